// sleep in atomic context: kmalloc() with GFP_KERNEL may sleep, in a timer, tasklet or RCU callback
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/interrupt.h>
#include <linux/completion.h>

static DECLARE_COMPLETION(ran);

static void bottom(struct tasklet_struct *t)
{
	void *volatile p = kmalloc(64, GFP_KERNEL); // in

	kfree(p);
	complete(&ran);
}

static DECLARE_TASKLET(tasklet, bottom);

static int __init begin(void)
{
	tasklet_schedule(&tasklet);
	wait_for_completion(&ran);
	return 0;
}

static void __exit end(void)
{
	tasklet_kill(&tasklet);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
