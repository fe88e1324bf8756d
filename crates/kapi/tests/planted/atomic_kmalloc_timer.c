// sleep in atomic context: kmalloc() with GFP_KERNEL may sleep, in a timer, tasklet or RCU callback
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/completion.h>

static struct timer_list timer;
static DECLARE_COMPLETION(ticked);

static void tick(struct timer_list *timer)
{
	void *volatile p = kmalloc(64, GFP_KERNEL); // in

	kfree(p);
	complete(&ticked);
}

static int __init begin(void)
{
	timer_setup(&timer, tick, 0);
	mod_timer(&timer, jiffies + 1);
	wait_for_completion(&ticked);
	return 0;
}

static void __exit end(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	timer_delete_sync(&timer);
#else
	del_timer_sync(&timer);
#endif
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
