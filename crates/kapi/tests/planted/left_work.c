// left behind: the queued work `second` is still there
#include <linux/module.h>
#include <linux/workqueue.h>
#include <linux/completion.h>
#include <linux/delay.h>

static DECLARE_COMPLETION(started);

static void first(struct work_struct *work)
{
	complete(&started);
	msleep(5000);
}

static void second(struct work_struct *work)
{
}

static DECLARE_WORK(work_1, first);
static DECLARE_WORK(work_2, second);

static int __init begin(void)
{
	schedule_work(&work_1); // in
	schedule_work(&work_2); // in
	wait_for_completion(&started);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
