// sleep in atomic context: copy_from_user() may sleep, in an RCU read-side section
// do: write /dev/planted abc
#include <linux/module.h>
#include <linux/miscdevice.h>
#include <linux/fs.h>
#include <linux/uaccess.h>
#include <linux/rcupdate.h>

static ssize_t takes(struct file *file, const char __user *buf, size_t size, loff_t *at)
{
	unsigned long left;
	char c;

	rcu_read_lock();
	left = copy_from_user(&c, buf, 1); // in
	rcu_read_unlock();
	return left ? -EFAULT : 1;
}

static const struct file_operations ops = { .owner = THIS_MODULE, .write = takes };
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
