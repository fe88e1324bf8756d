// left behind: the folder of /sys `planted` is still there
#include <linux/module.h>
#include <linux/kobject.h>
#include <linux/sysfs.h>

static struct kobject *folder;

static int __init begin(void)
{
	folder = kobject_create_and_add("planted", kernel_kobj); // in
	return folder ? 0 : -ENOMEM;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
