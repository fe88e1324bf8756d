// left behind: the work `second` is queued in memory that is freed
#include <linux/module.h>
#include <linux/workqueue.h>
#include <linux/slab.h>
#include <linux/delay.h>

static void first(struct work_struct *work)
{
	msleep(50);
}

static void second(struct work_struct *work)
{
}

static DECLARE_WORK(before, first);

static int __init begin(void)
{
	struct work_struct *work = kzalloc(sizeof(*work), GFP_KERNEL);

	if (!work)
		return -ENOMEM;
	INIT_WORK(work, second);
	schedule_work(&before);
	schedule_work(work);
	kfree(work); // in
	return 0;
}

static void __exit end(void)
{
	flush_work(&before);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
