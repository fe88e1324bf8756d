// sleep in atomic context: copy_to_user() may sleep, under a spinlock
// do: read /dev/planted
#include <linux/module.h>
#include <linux/miscdevice.h>
#include <linux/fs.h>
#include <linux/uaccess.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);

static ssize_t gives(struct file *file, char __user *buf, size_t size, loff_t *at)
{
	unsigned long left;

	spin_lock(&lock);
	left = copy_to_user(buf, "text", 4); // in
	spin_unlock(&lock);
	return left ? -EFAULT : 4;
}

static const struct file_operations ops = { .owner = THIS_MODULE, .read = gives };
static struct miscdevice misc = { .minor = MISC_DYNAMIC_MINOR, .name = "planted", .fops = &ops };

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
