// sleep in atomic context: misc_register() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);
static const struct file_operations fops = { .owner = THIS_MODULE };
static struct miscdevice misc = { .minor = MISC_DYNAMIC_MINOR, .name = "planted", .fops = &fops };
static int result;

static int __init begin(void)
{
	spin_lock(&lock);
	result = misc_register(&misc); // in
	spin_unlock(&lock);
	if (!result)
		misc_deregister(&misc);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
