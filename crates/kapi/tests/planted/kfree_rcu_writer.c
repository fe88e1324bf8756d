// write to freed memory
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

struct thing {
	long value;
	struct rcu_head rcu;
};

static int __init begin(void)
{
	struct thing *thing = kzalloc(sizeof(*thing), GFP_KERNEL); // allocated by

	if (!thing)
		return -ENOMEM;
	kfree_rcu(thing, rcu); // freed before by
	rcu_barrier();
	rcu_read_lock();
	WRITE_ONCE(thing->value, 1);
	rcu_read_unlock();
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
