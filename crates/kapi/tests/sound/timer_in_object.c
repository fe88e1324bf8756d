// Nothing is wrong here: timer in object.
#include <linux/module.h>
#include <linux/timer.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

struct thing {
	struct timer_list timer;
	spinlock_t lock;
	int value;
};

static struct thing *thing;

static void tick(struct timer_list *t)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
	struct thing *thing = timer_container_of(thing, t, timer);
#else
	struct thing *thing = from_timer(thing, t, timer);
#endif

	spin_lock(&thing->lock);
	thing->value++;
	spin_unlock(&thing->lock);
}

static int __init begin(void)
{
	thing = kzalloc(sizeof(*thing), GFP_KERNEL);
	if (!thing)
		return -ENOMEM;
	spin_lock_init(&thing->lock);
	timer_setup(&thing->timer, tick, 0);
	mod_timer(&thing->timer, jiffies + 2);
	spin_lock_bh(&thing->lock);
	thing->value++;
	spin_unlock_bh(&thing->lock);
	return 0;
}

static void __exit end(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0)
	timer_delete_sync(&thing->timer);
#else
	del_timer_sync(&thing->timer);
#endif
	kfree(thing);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
