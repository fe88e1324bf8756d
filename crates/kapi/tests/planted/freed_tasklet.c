// left behind: the tasklet `bottom` is armed in memory that is freed
#include <linux/module.h>
#include <linux/interrupt.h>
#include <linux/slab.h>

static void bottom(struct tasklet_struct *t)
{
}

static int __init begin(void)
{
	struct tasklet_struct *tasklet = kzalloc(sizeof(*tasklet), GFP_KERNEL);

	if (!tasklet)
		return -ENOMEM;
	tasklet_setup(tasklet, bottom);
	tasklet_disable(tasklet);
	tasklet_schedule(tasklet);
	kfree(tasklet); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
