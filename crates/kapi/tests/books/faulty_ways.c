/* What a driver does wrong on purpose: it reads through nothing when it is written to, and is careful when it is read. */
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/uaccess.h>

static int faulty_major;

static ssize_t faulty_read(struct file *filp, char __user *buf, size_t count, loff_t *pos)
{
	char stack_buf[4];
	int left;

	memset(stack_buf, 0xff, sizeof(stack_buf));
	if (count > sizeof(stack_buf))
		count = sizeof(stack_buf);
	left = copy_to_user(buf, stack_buf, count);
	return left ? left : count;
}

static ssize_t faulty_write(struct file *filp, const char __user *buf, size_t count, loff_t *pos)
{
	*(volatile int *)0 = 0;
	return 0;
}

static struct file_operations faulty_fops = { .owner = THIS_MODULE, .read = faulty_read, .write = faulty_write };

static int __init faulty_init(void)
{
	faulty_major = register_chrdev(0, "faulty", &faulty_fops);
	return faulty_major < 0 ? faulty_major : 0;
}

static void __exit faulty_exit(void)
{
	unregister_chrdev(faulty_major, "faulty");
}

module_init(faulty_init);
module_exit(faulty_exit);
MODULE_LICENSE("Dual BSD/GPL");
