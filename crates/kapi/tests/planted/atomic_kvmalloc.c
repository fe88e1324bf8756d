// sleep in atomic context
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/mm.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);

static int __init begin(void)
{
	void *volatile p;

	spin_lock(&lock);
	p = kvmalloc(64, GFP_KERNEL); // in
	spin_unlock(&lock);
	kvfree(p);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
