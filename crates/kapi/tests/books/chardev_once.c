/* A device that one process at a time has open; it tells how often it was. Then one that takes a message by ioctl. */
#include <linux/atomic.h>
#include <linux/cdev.h>
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/ioctl.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <asm/errno.h>

#define DEVICE_NAME "chardev"
#define BUF_LEN 80
#define SET_MSG _IOW(100, 0, char *)
#define GET_MSG _IOR(100, 1, char *)
#define GET_NTH_BYTE _IOWR(100, 2, int)

enum { CDEV_NOT_USED, CDEV_EXCLUSIVE_OPEN };

static int major;
static atomic_t already_open = ATOMIC_INIT(CDEV_NOT_USED);
static char msg[BUF_LEN + 1];
static struct class *cls;

static int once_open(struct inode *inode, struct file *file)
{
	static int counter;

	if (atomic_cmpxchg(&already_open, CDEV_NOT_USED, CDEV_EXCLUSIVE_OPEN))
		return -EBUSY;
	if (!msg[0])
		sprintf(msg, "opened %d times\n", counter++);
	try_module_get(THIS_MODULE);
	return 0;
}

static int once_release(struct inode *inode, struct file *file)
{
	atomic_set(&already_open, CDEV_NOT_USED);
	module_put(THIS_MODULE);
	return 0;
}

static ssize_t once_read(struct file *filp, char __user *buffer, size_t length, loff_t *offset)
{
	const char *msg_ptr = msg + *offset;
	int bytes_read = 0;

	if (!*msg_ptr) {
		*offset = 0;
		return 0;
	}
	while (length && *msg_ptr) {
		put_user(*(msg_ptr++), buffer++);
		length--;
		bytes_read++;
	}
	*offset += bytes_read;
	return bytes_read;
}

static ssize_t once_write(struct file *filp, const char __user *buff, size_t len, loff_t *off)
{
	int i;

	if (len == 1) {
		pr_alert("this operation is not supported.\n");
		return -EINVAL;
	}
	for (i = 0; i < len && i < BUF_LEN; i++)
		get_user(msg[i], buff + i);
	msg[i] = '\0';
	return i;
}

static long once_ioctl(struct file *file, unsigned int num, unsigned long param)
{
	char __user *tmp = (char __user *)param;
	int i;
	char ch;

	switch (num) {
	case SET_MSG:
		get_user(ch, tmp);
		for (i = 0; ch && i < BUF_LEN; i++, tmp++)
			get_user(ch, tmp);
		once_write(file, (char __user *)param, i - 1, NULL);
		break;
	case GET_MSG:
		i = strlen(msg);
		if (copy_to_user(tmp, msg, i) || put_user('\0', tmp + i))
			return -EFAULT;
		break;
	case GET_NTH_BYTE:
		return msg[param];
	default:
		return -ENOIOCTLCMD;
	}
	return 0;
}

static struct file_operations once_fops = {
	.read = once_read,
	.write = once_write,
	.unlocked_ioctl = once_ioctl,
	.open = once_open,
	.release = once_release,
};

static int __init once_init(void)
{
	major = register_chrdev(0, DEVICE_NAME, &once_fops);
	if (major < 0) {
		pr_alert("registering char device failed with %d\n", major);
		return major;
	}
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
	cls = class_create(THIS_MODULE, DEVICE_NAME);
#else
	cls = class_create(DEVICE_NAME);
#endif
	device_create(cls, NULL, MKDEV(major, 0), NULL, DEVICE_NAME);
	pr_info("device created on /dev/%s\n", DEVICE_NAME);
	return 0;
}

static void __exit once_exit(void)
{
	device_destroy(cls, MKDEV(major, 0));
	class_destroy(cls);
	unregister_chrdev(major, DEVICE_NAME);
}

module_init(once_init);
module_exit(once_exit);
MODULE_LICENSE("GPL");
