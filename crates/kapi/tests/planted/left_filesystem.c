// left behind: the file system `planted` is still there
#include <linux/module.h>
#include <linux/fs.h>

static struct file_system_type type = { .owner = THIS_MODULE, .name = "planted" };

static int __init begin(void)
{
	return register_filesystem(&type); // in
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
