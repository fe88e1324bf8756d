// left behind: the class `planted` is still there
#include <linux/module.h>
#include <linux/device.h>

static struct class *class;

static int __init begin(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	class = class_create("planted"); // in: since 6.4
#else
	class = class_create(THIS_MODULE, "planted"); // in: before 6.4
#endif
	return PTR_ERR_OR_ZERO(class);
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
