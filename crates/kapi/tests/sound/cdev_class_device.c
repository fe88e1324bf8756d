// Nothing is wrong here: cdev class device.
// do: read /dev/sound0 5
#include <linux/module.h>
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/uaccess.h>

static struct class *class;
static struct cdev cdev;
static dev_t number;

static ssize_t zeros(struct file *file, char __user *buf, size_t size, loff_t *at)
{
	return clear_user(buf, size) ? -EFAULT : (ssize_t)size;
}

static const struct file_operations ops = { .owner = THIS_MODULE, .read = zeros };

static int __init begin(void)
{
	int result = alloc_chrdev_region(&number, 0, 1, "sound");

	if (result)
		return result;
	cdev_init(&cdev, &ops);
	cdev.owner = THIS_MODULE;
	result = cdev_add(&cdev, number, 1);
	if (result)
		goto no_cdev;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	class = class_create("sound");
#else
	class = class_create(THIS_MODULE, "sound");
#endif
	if (IS_ERR(class)) {
		result = PTR_ERR(class);
		goto no_class;
	}
	return PTR_ERR_OR_ZERO(device_create(class, NULL, number, NULL, "sound0"));
no_class:
	cdev_del(&cdev);
no_cdev:
	unregister_chrdev_region(number, 1);
	return result;
}

static void __exit end(void)
{
	device_destroy(class, number);
	class_destroy(class);
	cdev_del(&cdev);
	unregister_chrdev_region(number, 1);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
