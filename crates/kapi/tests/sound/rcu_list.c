// Nothing is wrong here: rcu list.
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

struct thing {
	struct list_head list;
	struct rcu_head rcu;
	int key;
};

static LIST_HEAD(things);
static DEFINE_SPINLOCK(lock);

static bool has(int key)
{
	struct thing *thing;
	bool found = false;

	rcu_read_lock();
	list_for_each_entry_rcu(thing, &things, list)
		found |= thing->key == key;
	rcu_read_unlock();
	return found;
}

static void gone(struct rcu_head *head)
{
	kfree(container_of(head, struct thing, rcu));
}

static int __init begin(void)
{
	struct thing *thing, *next;
	int i;

	for (i = 0; i < 10; i++) {
		thing = kmalloc(sizeof(*thing), GFP_KERNEL);
		if (!thing)
			return -ENOMEM;
		thing->key = i;
		spin_lock(&lock);
		list_add_rcu(&thing->list, &things);
		spin_unlock(&lock);
	}
	spin_lock(&lock);
	list_for_each_entry_safe(thing, next, &things, list) {
		if (thing->key % 3 == 0) {
			list_del_rcu(&thing->list);
			call_rcu(&thing->rcu, gone);
		} else if (thing->key % 3 == 1) {
			list_del_rcu(&thing->list);
			kfree_rcu(thing, rcu);
		}
	}
	spin_unlock(&lock);
	return has(2) && !has(3) ? 0 : -EINVAL;
}

static void __exit end(void)
{
	struct thing *thing, *next;

	rcu_barrier();
	list_for_each_entry_safe(thing, next, &things, list)
		kfree(thing);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
