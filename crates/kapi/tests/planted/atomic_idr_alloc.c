// sleep in atomic context: idr_alloc() may sleep, in an RCU read-side section
#include <linux/module.h>
#include <linux/idr.h>
#include <linux/rcupdate.h>

static DEFINE_IDR(numbers);
static int thing;

static int __init begin(void)
{
	rcu_read_lock();
	idr_alloc(&numbers, &thing, 0, 0, GFP_KERNEL); // in
	rcu_read_unlock();
	idr_destroy(&numbers);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
