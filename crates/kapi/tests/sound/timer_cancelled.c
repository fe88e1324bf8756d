// Nothing is wrong here: timer cancelled.
#include <linux/module.h>
#include <linux/timer.h>
#include <linux/delay.h>

static struct timer_list timer;
static atomic_t ticks = ATOMIC_INIT(0);

static void tick(struct timer_list *t)
{
	atomic_inc(&ticks);
	mod_timer(t, jiffies + 1);
}

static int __init begin(void)
{
	timer_setup(&timer, tick, 0);
	mod_timer(&timer, jiffies + 1);
	while (atomic_read(&ticks) < 2)
		msleep(1);
	return 0;
}

static void __exit end(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	timer_shutdown_sync(&timer);
#else
	del_timer_sync(&timer);
#endif
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
