// asan: use-after-poison
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

struct thing {
	long value;
	struct rcu_head rcu;
};

static struct thing __rcu *shared;

static int __init begin(void)
{
	struct thing *thing = kzalloc(sizeof(*thing), GFP_KERNEL), *seen;

	if (!thing)
		return -ENOMEM;
	rcu_assign_pointer(shared, thing);
	rcu_read_lock();
	seen = rcu_dereference(shared);
	rcu_read_unlock();
	RCU_INIT_POINTER(shared, NULL);
	kfree_rcu(thing, rcu);
	rcu_barrier();
	rcu_read_lock();
	pr_info("%ld\n", READ_ONCE(seen->value)); // in
	rcu_read_unlock();
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
