// left behind: the region of device numbers `planted` is still there
#include <linux/module.h>
#include <linux/fs.h>

static const struct file_operations ops = { .owner = THIS_MODULE };

static int __init begin(void)
{
	int major = register_chrdev(0, "planted", &ops); // in

	return major < 0 ? major : 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
