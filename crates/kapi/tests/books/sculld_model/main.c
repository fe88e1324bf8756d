/* The driver with its devices. */
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "sculld.h"

int sculld_order = SCULLD_ORDER;
static int sculld_major, sculld_devs = 2;
module_param(sculld_major, int, 0);
module_param(sculld_devs, int, 0);
module_param(sculld_order, int, 0);
MODULE_LICENSE("Dual BSD/GPL");

static struct sculld_dev *sculld_devices;
static struct ldd_driver sculld_driver = {
	.version = "Revision 1.21",
	.module = THIS_MODULE,
	.driver = { .name = "sculld" },
};

static int sculld_open(struct inode *inode, struct file *filp)
{
	struct sculld_dev *dev = container_of(inode->i_cdev, struct sculld_dev, cdev);

	if ((filp->f_flags & O_ACCMODE) == O_WRONLY)
		sculld_trim(dev);
	filp->private_data = dev;
	return 0;
}

static long sculld_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	return cmd == SCULLD_IOCQORDER ? sculld_order : -ENOTTY;
}

static struct file_operations sculld_fops = {
	.owner = THIS_MODULE,
	.read = sculld_read,
	.write = sculld_write,
	.unlocked_ioctl = sculld_ioctl,
	.open = sculld_open,
};

static ssize_t sculld_show_dev(struct device *ddev, struct device_attribute *attr, char *buf)
{
	struct sculld_dev *dev = dev_get_drvdata(ddev);

	return print_dev_t(buf, MKDEV(0, MINOR(dev->cdev.dev)));
}

static DEVICE_ATTR(dev, S_IRUGO, sculld_show_dev, NULL);

static void sculld_register_dev(struct sculld_dev *dev, int index)
{
	cdev_init(&dev->cdev, &sculld_fops);
	dev->cdev.owner = THIS_MODULE;
	if (cdev_add(&dev->cdev, MKDEV(sculld_major, index), 1))
		printk(KERN_NOTICE "Error adding sculld%d", index);
	sprintf(dev->devname, "sculld%d", index);
	dev->ldev.name = dev->devname;
	dev->ldev.driver = &sculld_driver;
	dev_set_drvdata(&dev->ldev.dev, dev);
	if (register_ldd_device(&dev->ldev) || device_create_file(&dev->ldev.dev, &dev_attr_dev))
		printk(KERN_NOTICE "Error registering sculld%d", index);
	printk(KERN_INFO "%s is driven by %s\n", dev_name(&dev->ldev.dev), dev->ldev.dev.driver->name);
}

static int sculld_init(void)
{
	dev_t dev = MKDEV(sculld_major, 0);
	int i, result;

	result = sculld_major ? register_chrdev_region(dev, sculld_devs, "sculld")
			      : alloc_chrdev_region(&dev, 0, sculld_devs, "sculld");
	if (result < 0)
		return result;
	sculld_major = MAJOR(dev);
	result = register_ldd_driver(&sculld_driver);
	sculld_devices = kcalloc(sculld_devs, sizeof(struct sculld_dev), GFP_KERNEL);
	if (result || !sculld_devices)
		return -ENOMEM;
	for (i = 0; i < sculld_devs; i++) {
		sculld_devices[i].order = sculld_order;
		sema_init(&sculld_devices[i].sem, 1);
		sculld_register_dev(sculld_devices + i, i);
	}
	return 0;
}

static void sculld_cleanup(void)
{
	int i;

	for (i = 0; i < sculld_devs; i++) {
		unregister_ldd_device(&sculld_devices[i].ldev);
		cdev_del(&sculld_devices[i].cdev);
		sculld_trim(sculld_devices + i);
	}
	kfree(sculld_devices);
	unregister_ldd_driver(&sculld_driver);
	unregister_chrdev_region(MKDEV(sculld_major, 0), sculld_devs);
}

module_init(sculld_init);
module_exit(sculld_cleanup);
