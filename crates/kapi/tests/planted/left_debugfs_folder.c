// left behind: the debugfs folder `planted` is still there
#include <linux/module.h>
#include <linux/debugfs.h>

static int __init begin(void)
{
	debugfs_create_dir("planted", NULL); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
