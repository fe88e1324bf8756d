// left behind: the RCU callback `gone` is registered in memory that is freed
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

struct thing {
	long value;
	struct rcu_head rcu;
};

static void gone(struct rcu_head *head)
{
}

static int __init begin(void)
{
	struct thing *thing = kzalloc(sizeof(*thing), GFP_KERNEL);

	if (!thing)
		return -ENOMEM;
	rcu_read_lock();
	call_rcu(&thing->rcu, gone);
	kfree(thing); // in
	rcu_read_unlock();
	return 0;
}

static void __exit end(void)
{
	rcu_barrier();
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
