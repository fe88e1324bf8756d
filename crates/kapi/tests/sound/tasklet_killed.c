// Nothing is wrong here: tasklet killed.
#include <linux/module.h>
#include <linux/interrupt.h>
#include <linux/slab.h>

static char *kept;

static void bottom(struct tasklet_struct *t)
{
	kept = kmalloc(32, GFP_ATOMIC);
}

static DECLARE_TASKLET(tasklet, bottom);

static int __init begin(void)
{
	tasklet_schedule(&tasklet);
	return 0;
}

static void __exit end(void)
{
	tasklet_kill(&tasklet);
	kfree(kept);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
