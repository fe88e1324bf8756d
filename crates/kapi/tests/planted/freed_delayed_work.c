// left behind: the delayed work `later` is armed in memory that is freed
#include <linux/module.h>
#include <linux/workqueue.h>
#include <linux/slab.h>

static void later(struct work_struct *work)
{
}

static int __init begin(void)
{
	struct delayed_work *work = kzalloc(sizeof(*work), GFP_KERNEL);

	if (!work)
		return -ENOMEM;
	INIT_DELAYED_WORK(work, later);
	schedule_delayed_work(work, 60 * HZ);
	kfree(work); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
