// sleep in atomic context: vmalloc() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/vmalloc.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);

static int __init begin(void)
{
	void *volatile p;

	spin_lock(&lock);
	p = vmalloc(64); // in
	spin_unlock(&lock);
	vfree(p);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
