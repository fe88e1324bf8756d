// left behind: the debugfs file `count` is still there
#include <linux/module.h>
#include <linux/debugfs.h>

static u32 count;

static int __init begin(void)
{
	debugfs_create_u32("count", 0444, NULL, &count); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
