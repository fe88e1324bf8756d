// left behind: the timer `tick` is armed in memory that is freed
#include <linux/module.h>
#include <linux/timer.h>
#include <linux/slab.h>

struct thing {
	struct timer_list timer;
};

static void tick(struct timer_list *timer)
{
}

static int __init begin(void)
{
	struct thing *thing = kzalloc(sizeof(*thing), GFP_KERNEL);

	if (!thing)
		return -ENOMEM;
	timer_setup(&thing->timer, tick, 0);
	mod_timer(&thing->timer, jiffies + 60 * HZ);
	kfree(thing); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
