// sleep in atomic context: kmalloc() with GFP_KERNEL may sleep, under a spinlock
#include <linux/module.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/spinlock.h>
#include <linux/version.h>

static DEFINE_SPINLOCK(lock);
static struct class *class;

static int __init begin(void)
{
	spin_lock(&lock);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
	class = class_create("planted"); // in: since 6.4
#else
	class = class_create(THIS_MODULE, "planted"); // in: before 6.4
#endif
	spin_unlock(&lock);
	if (!IS_ERR(class))
		class_destroy(class);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
