// Nothing is wrong here: timers, tasklets and works of objects are armed again, and stopped before they are freed.
#include <linux/module.h>
#include <linux/interrupt.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/workqueue.h>

struct thing {
	struct timer_list timer;
	struct tasklet_struct tasklet;
	struct delayed_work later;
	atomic_t runs;
};

static struct workqueue_struct *queues[3];

static void tick(struct timer_list *timer)
{
	struct thing *thing = container_of(timer, struct thing, timer);

	if (atomic_inc_return(&thing->runs) < 3)
		mod_timer(timer, jiffies + 1);
}

static void bottom(struct tasklet_struct *tasklet)
{
	atomic_inc(&container_of(tasklet, struct thing, tasklet)->runs);
}

static void work(struct work_struct *work)
{
	atomic_inc(&container_of(to_delayed_work(work), struct thing, later)->runs);
}

static int use(struct workqueue_struct *queue)
{
	struct thing *thing = kzalloc(sizeof(*thing), GFP_KERNEL);

	if (!thing)
		return -ENOMEM;
	timer_setup(&thing->timer, tick, 0);
	tasklet_setup(&thing->tasklet, bottom);
	INIT_DELAYED_WORK(&thing->later, work);
	mod_timer(&thing->timer, jiffies + 1);
	tasklet_schedule(&thing->tasklet);
	tasklet_schedule(&thing->tasklet);
	queue_delayed_work(queue, &thing->later, 1);
	mod_delayed_work(queue, &thing->later, 1000);
	cancel_delayed_work_sync(&thing->later);
	tasklet_kill(&thing->tasklet);
	timer_shutdown_sync(&thing->timer);
	kfree(thing);
	return 0;
}

static int __init begin(void)
{
	int i, error = 0;

	for (i = 0; i < ARRAY_SIZE(queues) && !error; i++) {
		queues[i] = alloc_workqueue("right/%d", 0, 1, i);
		error = queues[i] ? use(queues[i]) : -ENOMEM;
	}
	return error;
}

static void __exit end(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(queues); i++)
		destroy_workqueue(queues[i]);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
