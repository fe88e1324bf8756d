// left behind: the delayed work `later` is still there
#include <linux/module.h>
#include <linux/workqueue.h>

static void later(struct work_struct *work)
{
}

static DECLARE_DELAYED_WORK(work, later);

static int __init begin(void)
{
	schedule_delayed_work(&work, 60 * HZ); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
