// Nothing is wrong here: work frees itself.
#include <linux/module.h>
#include <linux/workqueue.h>
#include <linux/slab.h>

struct job {
	struct work_struct work;
	int value;
};

static struct workqueue_struct *queue;

static void does(struct work_struct *work)
{
	kfree(container_of(work, struct job, work));
}

static int __init begin(void)
{
	int i;

	queue = alloc_workqueue("jobs", WQ_UNBOUND, 1);
	if (!queue)
		return -ENOMEM;
	for (i = 0; i < 10; i++) {
		struct job *job = kmalloc(sizeof(*job), GFP_KERNEL);

		if (!job)
			break;
		INIT_WORK(&job->work, does);
		queue_work(queue, &job->work);
	}
	return 0;
}

static void __exit end(void)
{
	destroy_workqueue(queue);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
