// left behind: the character device `240:0` is still there
#include <linux/module.h>
#include <linux/cdev.h>
#include <linux/fs.h>

static const struct file_operations ops = { .owner = THIS_MODULE };
static struct cdev cdev;

static int __init begin(void)
{
	int result = register_chrdev_region(MKDEV(240, 0), 1, "planted");

	if (result)
		return result;
	cdev_init(&cdev, &ops);
	return cdev_add(&cdev, MKDEV(240, 0), 1); // in
}

static void __exit end(void)
{
	unregister_chrdev_region(MKDEV(240, 0), 1);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
