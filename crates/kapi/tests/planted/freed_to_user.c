// read of freed memory: copy_to_user() of
// do: read /dev/planted 4
#include <linux/module.h>
#include <linux/miscdevice.h>
#include <linux/fs.h>
#include <linux/uaccess.h>
#include <linux/slab.h>

static char *text;

static ssize_t gives(struct file *file, char __user *buf, size_t size, loff_t *at)
{
	return copy_to_user(buf, text, 4) ? -EFAULT : 4; // in
}

static const struct file_operations ops = { .owner = THIS_MODULE, .read = gives };
static struct miscdevice misc = { .minor = MISC_DYNAMIC_MINOR, .name = "planted", .fops = &ops };

static int __init begin(void)
{
	text = kmalloc(64, GFP_KERNEL); // allocated by
	kfree(text); // freed before by
	return misc_register(&misc);
}

static void __exit end(void)
{
	misc_deregister(&misc);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
