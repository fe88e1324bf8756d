/* A branch that the kernel patches: read and switched through a device. */
#include <linux/atomic.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <asm/errno.h>

#define DEVICE_NAME "key_state"
static int major;
static atomic_t already_open = ATOMIC_INIT(0);
static char msg[12];
static struct class *cls;
static DEFINE_STATIC_KEY_FALSE(fkey);
static DEFINE_STATIC_KEY_TRUE(other);

static int key_open(struct inode *inode, struct file *file)
{
	if (atomic_cmpxchg(&already_open, 0, 1))
		return -EBUSY;
	sprintf(msg, static_key_enabled(&fkey) ? "enabled\n" : "disabled\n");
	pr_info("fastpath 1\n");
	if (static_branch_unlikely(&fkey))
		pr_alert("do unlikely thing\n");
	pr_info("fastpath 2, other %d, count %d\n", static_branch_likely(&other), static_key_count(&fkey.key));
	try_module_get(THIS_MODULE);
	return 0;
}

static int key_release(struct inode *inode, struct file *file)
{
	atomic_set(&already_open, 0);
	module_put(THIS_MODULE);
	return 0;
}

static ssize_t key_read(struct file *filp, char __user *buffer, size_t length, loff_t *offset)
{
	return simple_read_from_buffer(buffer, length, offset, msg, strlen(msg));
}

static ssize_t key_write(struct file *filp, const char __user *buffer, size_t length, loff_t *offset)
{
	char command[10];

	if (length > 10) {
		pr_err("command exceeded 10 char\n");
		return -EINVAL;
	}
	if (copy_from_user(command, buffer, length))
		return -EFAULT;
	if (strncmp(command, "enable", strlen("enable")) == 0)
		static_branch_enable(&fkey);
	else if (strncmp(command, "disable", strlen("disable")) == 0)
		static_branch_disable(&fkey);
	else if (strncmp(command, "inc", 3) == 0)
		static_branch_inc(&fkey);
	else
		return -EINVAL;
	return length;
}

static struct file_operations chardev_fops = {
	.owner = THIS_MODULE, .open = key_open, .release = key_release, .read = key_read, .write = key_write,
};

static int __init key_init(void)
{
	major = register_chrdev(0, DEVICE_NAME, &chardev_fops);
	if (major < 0)
		return major;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
	cls = class_create(THIS_MODULE, DEVICE_NAME);
#else
	cls = class_create(DEVICE_NAME);
#endif
	device_create(cls, NULL, MKDEV(major, 0), NULL, DEVICE_NAME);
	return 0;
}

static void __exit key_exit(void)
{
	device_destroy(cls, MKDEV(major, 0));
	class_destroy(cls);
	unregister_chrdev(major, DEVICE_NAME);
}

module_init(key_init);
module_exit(key_exit);
MODULE_LICENSE("GPL");
