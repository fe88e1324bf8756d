// Nothing is wrong here: cdev allocated.
// do: mknod /dev/sound sound 0
// do: read /dev/sound 3
#include <linux/module.h>
#include <linux/cdev.h>
#include <linux/fs.h>

static struct cdev *cdev;
static dev_t number;

static ssize_t none(struct file *file, char __user *buf, size_t size, loff_t *at)
{
	return 0;
}

static const struct file_operations ops = { .owner = THIS_MODULE, .read = none };

static int __init begin(void)
{
	int result = alloc_chrdev_region(&number, 0, 1, "sound");

	if (result)
		return result;
	cdev = cdev_alloc();
	if (!cdev)
		return -ENOMEM;
	cdev->owner = THIS_MODULE;
	cdev->ops = &ops;
	return cdev_add(cdev, number, 1);
}

static void __exit end(void)
{
	cdev_del(cdev);
	unregister_chrdev_region(number, 1);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
