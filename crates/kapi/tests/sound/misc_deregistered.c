// Nothing is wrong here: misc deregistered.
// do: write /dev/sound hello
// do: read /dev/sound
#include <linux/module.h>
#include <linux/miscdevice.h>
#include <linux/fs.h>
#include <linux/uaccess.h>
#include <linux/slab.h>
#include <linux/mutex.h>

static DEFINE_MUTEX(lock);
static char *kept;
static size_t len;

static ssize_t takes(struct file *file, const char __user *buf, size_t size, loff_t *at)
{
	char *text = memdup_user_nul(buf, min_t(size_t, size, 64));

	if (IS_ERR(text))
		return PTR_ERR(text);
	mutex_lock(&lock);
	kfree(kept);
	kept = text;
	len = strlen(text);
	mutex_unlock(&lock);
	return (ssize_t)size;
}

static ssize_t gives(struct file *file, char __user *buf, size_t size, loff_t *at)
{
	ssize_t result;

	mutex_lock(&lock);
	result = simple_read_from_buffer(buf, size, at, kept, len);
	mutex_unlock(&lock);
	return result;
}

static const struct file_operations ops = { .owner = THIS_MODULE, .read = gives, .write = takes };
static struct miscdevice misc = { .minor = MISC_DYNAMIC_MINOR, .name = "sound", .fops = &ops };

static int __init begin(void)
{
	return misc_register(&misc);
}

static void __exit end(void)
{
	misc_deregister(&misc);
	kfree(kept);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
