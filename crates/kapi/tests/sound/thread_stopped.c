// Nothing is wrong here: thread stopped.
#include <linux/module.h>
#include <linux/kthread.h>
#include <linux/wait.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/list.h>

struct item {
	struct list_head list;
	int value;
};

static LIST_HEAD(items);
static DEFINE_SPINLOCK(lock);
static DECLARE_WAIT_QUEUE_HEAD(more);
static struct task_struct *task;
static long sum;

static int consumes(void *data)
{
	while (!kthread_should_stop()) {
		struct item *item = NULL;

		wait_event_interruptible(more, !list_empty(&items) || kthread_should_stop());
		spin_lock(&lock);
		if (!list_empty(&items)) {
			item = list_first_entry(&items, struct item, list);
			list_del(&item->list);
		}
		spin_unlock(&lock);
		if (item)
			sum += item->value;
		kfree(item);
	}
	return 0;
}

static int __init begin(void)
{
	int i;

	task = kthread_run(consumes, NULL, "consumes");
	if (IS_ERR(task))
		return PTR_ERR(task);
	for (i = 0; i < 50; i++) {
		struct item *item = kmalloc(sizeof(*item), GFP_KERNEL);

		if (!item)
			break;
		item->value = i;
		spin_lock(&lock);
		list_add_tail(&item->list, &items);
		spin_unlock(&lock);
		wake_up(&more);
	}
	return 0;
}

static void __exit end(void)
{
	struct item *item, *next;

	kthread_stop(task);
	list_for_each_entry_safe(item, next, &items, list) {
		list_del(&item->list);
		kfree(item);
	}
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
