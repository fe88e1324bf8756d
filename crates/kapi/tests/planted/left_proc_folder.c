// left behind: the folder of /proc `planted` is still there
#include <linux/module.h>
#include <linux/proc_fs.h>

static int __init begin(void)
{
	return proc_mkdir("planted", NULL) ? 0 : -ENOMEM; // in
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
