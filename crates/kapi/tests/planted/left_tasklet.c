// left behind: the tasklet `bottom` is still there
#include <linux/module.h>
#include <linux/interrupt.h>

static void bottom(struct tasklet_struct *t)
{
}

static DECLARE_TASKLET_DISABLED(tasklet, bottom);

static int __init begin(void)
{
	return 0;
}

static void __exit end(void)
{
	tasklet_schedule(&tasklet); // in
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
