// left behind: the character device `240:0` is registered in memory that is freed
#include <linux/module.h>
#include <linux/cdev.h>
#include <linux/fs.h>
#include <linux/slab.h>

static const struct file_operations ops = { .owner = THIS_MODULE };

static int __init begin(void)
{
	struct cdev *cdev = kzalloc(sizeof(*cdev), GFP_KERNEL);
	int result;

	if (!cdev)
		return -ENOMEM;
	result = register_chrdev_region(MKDEV(240, 0), 1, "planted");
	if (result)
		return result;
	cdev_init(cdev, &ops);
	result = cdev_add(cdev, MKDEV(240, 0), 1);
	kfree(cdev); // in
	return result;
}

static void __exit end(void)
{
	unregister_chrdev_region(MKDEV(240, 0), 1);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
