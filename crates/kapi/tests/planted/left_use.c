// left behind: the module is still in use by 1
#include <linux/module.h>
#include <linux/fs.h>

static int __init begin(void)
{
	__module_get(THIS_MODULE); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
