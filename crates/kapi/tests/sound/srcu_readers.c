// Nothing is wrong here: srcu readers.
#include <linux/module.h>
#include <linux/srcu.h>
#include <linux/slab.h>

DEFINE_STATIC_SRCU(srcu);
static int __rcu *value;

static int __init begin(void)
{
	int *first = kzalloc(sizeof(int), GFP_KERNEL), index;

	if (!first)
		return -ENOMEM;
	rcu_assign_pointer(value, first);
	index = srcu_read_lock(&srcu);
	pr_debug("%d\n", *srcu_dereference(value, &srcu));
	srcu_read_unlock(&srcu, index);
	RCU_INIT_POINTER(value, NULL);
	synchronize_srcu(&srcu);
	kfree(first);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
