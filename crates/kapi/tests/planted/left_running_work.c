// left behind: the running work `slow` is still there
#include <linux/module.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/workqueue.h>

static DECLARE_COMPLETION(begun);

static void slow(struct work_struct *work)
{
	complete(&begun);
	msleep(60000);
}

static DECLARE_WORK(work, slow);

static int __init begin(void)
{
	schedule_work(&work); // in
	wait_for_completion(&begun);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
