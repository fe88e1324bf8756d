// Nothing is wrong here: work cancelled.
#include <linux/module.h>
#include <linux/workqueue.h>
#include <linux/slab.h>

static void *kept;

static void fills(struct work_struct *work)
{
	kept = kmalloc(100, GFP_KERNEL);
}

static DECLARE_WORK(work, fills);

static int __init begin(void)
{
	schedule_work(&work);
	flush_work(&work);
	return 0;
}

static void __exit end(void)
{
	cancel_work_sync(&work);
	kfree(kept);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
