// left behind: the region of device numbers `planted` is still there
#include <linux/module.h>
#include <linux/fs.h>

static dev_t first;

static int __init begin(void)
{
	return alloc_chrdev_region(&first, 0, 4, "planted"); // in
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
