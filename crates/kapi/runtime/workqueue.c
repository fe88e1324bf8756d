// SPDX-License-Identifier: MIT OR Apache-2.0
// Work queues: a list and a thread each.
#include <kapi/host.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

struct workqueue_struct {
	spinlock_t lock;
	struct list_head works;
	struct work_struct *running;
	wait_queue_head_t more, idle;
	struct task_struct *thread;
};

static bool queue_is_idle(struct workqueue_struct *queue)
{
	unsigned long flags;
	bool idle;

	spin_lock_irqsave(&queue->lock, flags);
	idle = list_empty(&queue->works) && !queue->running;
	spin_unlock_irqrestore(&queue->lock, flags);
	return idle;
}

static int worker(void *data)
{
	struct workqueue_struct *queue = data;
	unsigned long flags;

	while (!kthread_should_stop() || !queue_is_idle(queue)) {
		struct work_struct *work = NULL;

		wait_event(queue->more, !list_empty(&queue->works) || kthread_should_stop());
		spin_lock_irqsave(&queue->lock, flags);
		if (!list_empty(&queue->works)) {
			work = list_first_entry(&queue->works, struct work_struct, entry);
			list_del_init(&work->entry);
			work->kapi_pending = 0;
			queue->running = work;
		}
		spin_unlock_irqrestore(&queue->lock, flags);
		if (!work)
			continue;
		/* The work may free itself: it is not touched afterwards. */
		((void (*)(void *))work->func)(work->kapi_data);
		spin_lock_irqsave(&queue->lock, flags);
		queue->running = NULL;
		spin_unlock_irqrestore(&queue->lock, flags);
		wake_up_all(&queue->idle);
	}
	return 0;
}

struct workqueue_struct *alloc_workqueue(const char *fmt, unsigned int flags, int active, ...)
{
	struct workqueue_struct *queue = kapi_alloc(sizeof(*queue));
	char name[TASK_COMM_LEN];
	va_list args;

	if (!queue)
		return NULL;
	va_start(args, active);
	vsnprintf(name, sizeof(name), fmt, args);
	va_end(args);
	spin_lock_init(&queue->lock);
	INIT_LIST_HEAD(&queue->works);
	init_waitqueue_head(&queue->more);
	init_waitqueue_head(&queue->idle);
	queue->thread = kthread_run(worker, queue, "%s", name);
	if (IS_ERR(queue->thread)) {
		kapi_free(queue, sizeof(*queue));
		return NULL;
	}
	return queue;
}

struct workqueue_struct *kapi_system_queue(void)
{
	static struct workqueue_struct *queue;
	static DEFINE_MUTEX(lock);

	mutex_lock(&lock);
	if (!queue)
		queue = alloc_workqueue("events", 0, 1);
	mutex_unlock(&lock);
	return queue;
}

void flush_workqueue(struct workqueue_struct *queue)
{
	wait_event(queue->idle, queue_is_idle(queue));
}

void destroy_workqueue(struct workqueue_struct *queue)
{
	flush_workqueue(queue);
	kthread_stop(queue->thread);
	kapi_free(queue, sizeof(*queue));
}

bool queue_work(struct workqueue_struct *queue, struct work_struct *work)
{
	unsigned long flags;
	bool queued;

	spin_lock_irqsave(&queue->lock, flags);
	queued = !work->kapi_pending;
	if (queued) {
		work->kapi_pending = 1;
		work->kapi_queue = queue;
		list_add_tail(&work->entry, &queue->works);
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	wake_up(&queue->more);
	return queued;
}

static void timer_fires(struct timer_list *timer)
{
	struct delayed_work *dwork = container_of(timer, struct delayed_work, timer);

	queue_work(dwork->work.kapi_queue, &dwork->work);
}

bool queue_delayed_work(struct workqueue_struct *queue, struct delayed_work *dwork,
			unsigned long delay)
{
	if (work_pending(&dwork->work) || timer_pending(&dwork->timer))
		return false;
	if (!delay)
		return queue_work(queue, &dwork->work);
	dwork->work.kapi_queue = queue;
	timer_setup(&dwork->timer, timer_fires, 0);
	mod_timer(&dwork->timer, jiffies + delay);
	return true;
}

bool mod_delayed_work(struct workqueue_struct *queue, struct delayed_work *dwork,
		      unsigned long delay)
{
	bool was = cancel_delayed_work(dwork);

	queue_delayed_work(queue, dwork, delay);
	return was;
}

static bool dequeue(struct work_struct *work)
{
	struct workqueue_struct *queue = work->kapi_queue;
	unsigned long flags;
	bool was;

	if (!queue)
		return false;
	spin_lock_irqsave(&queue->lock, flags);
	was = work->kapi_pending;
	if (was)
		list_del_init(&work->entry);
	work->kapi_pending = 0;
	spin_unlock_irqrestore(&queue->lock, flags);
	return was;
}

bool flush_work(struct work_struct *work)
{
	struct workqueue_struct *queue = work->kapi_queue;
	bool was = queue && (work->kapi_pending || queue->running == work);

	if (was)
		wait_event(queue->idle, !work->kapi_pending && queue->running != work);
	return was;
}

bool cancel_work_sync(struct work_struct *work)
{
	bool was = dequeue(work);

	flush_work(work);
	return was;
}

bool cancel_delayed_work(struct delayed_work *dwork)
{
	bool was = timer_pending(&dwork->timer) && del_timer(&dwork->timer);

	return dequeue(&dwork->work) || was;
}

bool cancel_delayed_work_sync(struct delayed_work *dwork)
{
	bool was = cancel_delayed_work(dwork);

	flush_work(&dwork->work);
	return was;
}
