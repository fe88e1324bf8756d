// sleep in atomic context: alloc_percpu() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);

static int __init begin(void)
{
	long __percpu *counters;

	spin_lock(&lock);
	counters = alloc_percpu(long); // in
	spin_unlock(&lock);
	free_percpu(counters);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
