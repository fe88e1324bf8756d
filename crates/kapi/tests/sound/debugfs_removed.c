// Nothing is wrong here: debugfs removed.
#include <linux/module.h>
#include <linux/debugfs.h>

static struct dentry *folder;
static u32 count = 5;
static bool flag;

static int __init begin(void)
{
	folder = debugfs_create_dir("sound", NULL);
	debugfs_create_u32("count", 0644, folder, &count);
	debugfs_create_bool("flag", 0644, folder, &flag);
	return 0;
}

static void __exit end(void)
{
	debugfs_remove_recursive(folder);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
