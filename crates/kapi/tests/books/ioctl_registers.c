/* Registers behind ioctl with a structure, each opener with its own in the file's private data under a rwlock. */
#include <linux/cdev.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/ioctl.h>
#include <linux/module.h>
#include <linux/rwlock.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>

struct ioctl_arg {
	unsigned int val;
};

#define IOC_MAGIC '\x66'
#define IOCTL_VALSET _IOW(IOC_MAGIC, 0, struct ioctl_arg)
#define IOCTL_VALGET _IOR(IOC_MAGIC, 1, struct ioctl_arg)
#define IOCTL_VALGET_NUM _IOR(IOC_MAGIC, 2, int)
#define IOCTL_VALSET_NUM _IOW(IOC_MAGIC, 3, int)
#define DRIVER_NAME "ioctltest"

static unsigned int test_ioctl_major, num_of_dev = 1;
static struct cdev test_ioctl_cdev;
static int ioctl_num;

struct test_ioctl_data {
	unsigned char val;
	rwlock_t lock;
};

static long test_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct test_ioctl_data *ioctl_data = filp->private_data;
	struct ioctl_arg data;
	unsigned char val;
	int retval = 0;

	memset(&data, 0, sizeof(data));
	switch (cmd) {
	case IOCTL_VALSET:
		if (copy_from_user(&data, (int __user *)arg, sizeof(data)))
			return -EFAULT;
		write_lock(&ioctl_data->lock);
		ioctl_data->val = data.val;
		write_unlock(&ioctl_data->lock);
		break;
	case IOCTL_VALGET:
		read_lock(&ioctl_data->lock);
		val = ioctl_data->val;
		read_unlock(&ioctl_data->lock);
		data.val = val;
		if (copy_to_user((int __user *)arg, &data, sizeof(data)))
			return -EFAULT;
		break;
	case IOCTL_VALGET_NUM:
		retval = __put_user(ioctl_num, (int __user *)arg);
		break;
	case IOCTL_VALSET_NUM:
		ioctl_num = arg;
		break;
	default:
		retval = -ENOTTY;
	}
	return retval;
}

static ssize_t test_ioctl_read(struct file *filp, char __user *buf, size_t count, loff_t *f_pos)
{
	struct test_ioctl_data *ioctl_data = filp->private_data;
	unsigned char val;
	int i;

	read_lock(&ioctl_data->lock);
	val = ioctl_data->val;
	read_unlock(&ioctl_data->lock);
	for (i = 0; i < count; i++)
		if (copy_to_user(&buf[i], &val, 1))
			return -EFAULT;
	return count;
}

static int test_ioctl_close(struct inode *inode, struct file *filp)
{
	kfree(filp->private_data);
	filp->private_data = NULL;
	return 0;
}

static int test_ioctl_open(struct inode *inode, struct file *filp)
{
	struct test_ioctl_data *ioctl_data = kmalloc(sizeof(struct test_ioctl_data), GFP_KERNEL);

	if (ioctl_data == NULL)
		return -ENOMEM;
	rwlock_init(&ioctl_data->lock);
	ioctl_data->val = 0x2e;
	filp->private_data = ioctl_data;
	return 0;
}

static struct file_operations fops = {
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
	.owner = THIS_MODULE,
#endif
	.open = test_ioctl_open,
	.release = test_ioctl_close,
	.read = test_ioctl_read,
	.unlocked_ioctl = test_ioctl,
};

static int __init ioctl_init(void)
{
	dev_t dev;
	int alloc_ret = alloc_chrdev_region(&dev, 0, num_of_dev, DRIVER_NAME), cdev_ret = -1;

	if (alloc_ret)
		goto error;
	test_ioctl_major = MAJOR(dev);
	cdev_init(&test_ioctl_cdev, &fops);
	cdev_ret = cdev_add(&test_ioctl_cdev, dev, num_of_dev);
	if (cdev_ret)
		goto error;
	pr_alert("%s driver installed.\n", DRIVER_NAME);
	return 0;
error:
	if (cdev_ret == 0)
		cdev_del(&test_ioctl_cdev);
	if (alloc_ret == 0)
		unregister_chrdev_region(dev, num_of_dev);
	return -1;
}

static void __exit ioctl_exit(void)
{
	cdev_del(&test_ioctl_cdev);
	unregister_chrdev_region(MKDEV(test_ioctl_major, 0), num_of_dev);
	pr_alert("%s driver removed.\n", DRIVER_NAME);
}

module_init(ioctl_init);
module_exit(ioctl_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("registers behind ioctl");
