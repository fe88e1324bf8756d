// leak
#include <linux/module.h>
#include <linux/percpu.h>

static long __percpu *counters;

static int __init begin(void)
{
	counters = alloc_percpu(long); // allocated by
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
