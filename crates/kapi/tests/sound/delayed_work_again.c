// Nothing is wrong here: delayed work again.
#include <linux/module.h>
#include <linux/workqueue.h>
#include <linux/delay.h>

static int turns;
static void again(struct work_struct *work);
static DECLARE_DELAYED_WORK(work, again);

static void again(struct work_struct *unused)
{
	turns++;
	schedule_delayed_work(&work, 1);
}

static int __init begin(void)
{
	schedule_delayed_work(&work, 1);
	msleep(30);
	return 0;
}

static void __exit end(void)
{
	cancel_delayed_work_sync(&work);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
