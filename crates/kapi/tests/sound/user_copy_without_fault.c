// Nothing is wrong here: user copy without fault.
// do: read /dev/sound 4
#include <linux/module.h>
#include <linux/uaccess.h>
#include <linux/spinlock.h>
#include <linux/miscdevice.h>
#include <linux/fs.h>

static DEFINE_SPINLOCK(lock);
static char text[4] = "abc";

static ssize_t gives(struct file *file, char __user *buf, size_t size, loff_t *at)
{
	char copy[4];

	spin_lock(&lock);
	memcpy(copy, text, 4);
	spin_unlock(&lock);
	if (!access_ok(buf, 4) || size < 4)
		return -EINVAL;
	return copy_to_user(buf, copy, 4) ? -EFAULT : 4;
}

static const struct file_operations ops = { .owner = THIS_MODULE, .read = gives };
static struct miscdevice misc = { .minor = MISC_DYNAMIC_MINOR, .name = "sound", .fops = &ops };

static int __init begin(void)
{
	return misc_register(&misc);
}

static void __exit end(void)
{
	misc_deregister(&misc);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
