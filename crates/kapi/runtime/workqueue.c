// SPDX-License-Identifier: MIT OR Apache-2.0
// Work queues: a list and a thread each.
#include "host.h"
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
	return UNDER_LOCK(&queue->lock, list_empty(&queue->works) && !queue->running);
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
			work->kapi_pending = 0; /* IDLE: it may be queued again while it runs */
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

	if (!queue)
		return NULL;
	WITH_ARGS(active, vsnprintf(name, sizeof(name), fmt, args));
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

/* A work may be scheduled where sleeping is forbidden. */
struct workqueue_struct *kapi_system_queue(void)
{
	static struct workqueue_struct *queue;
	static DEFINE_SPINLOCK(lock);

	return UNDER_LOCK(&lock, queue = queue ?: alloc_workqueue("events", 0, 1));
}

void flush_workqueue(struct workqueue_struct *queue) { wait_event(queue->idle, queue_is_idle(queue)); }

void destroy_workqueue(struct workqueue_struct *queue)
{
	flush_workqueue(queue);
	kthread_stop(queue->thread);
	kapi_free(queue, sizeof(*queue));
}

/* Whoever takes a work from IDLE is the only one to set its timer or to queue it. */
enum { IDLE, TIMER, QUEUED };

static bool claim(struct work_struct *work, unsigned int state)
{
	unsigned int idle = IDLE;

	return try_cmpxchg(&work->kapi_pending, &idle, state);
}

static void enqueue(struct workqueue_struct *queue, struct work_struct *work)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	work->kapi_queue = queue;
	work->kapi_pending = QUEUED;
	list_add_tail(&work->entry, &queue->works);
	spin_unlock_irqrestore(&queue->lock, flags);
	wake_up(&queue->more);
}

bool queue_work(struct workqueue_struct *queue, struct work_struct *work)
{
	if (!claim(work, TIMER))
		return false;
	enqueue(queue, work);
	return true;
}

static void timer_fires(struct timer_list *timer)
{
	struct delayed_work *dwork = container_of(timer, struct delayed_work, timer);

	enqueue(dwork->work.kapi_queue, &dwork->work);
}

bool queue_delayed_work(struct workqueue_struct *queue, struct delayed_work *dwork, unsigned long delay)
{
	if (!claim(&dwork->work, TIMER))
		return false;
	if (delay) {
		dwork->work.kapi_queue = queue;
		timer_setup(&dwork->timer, timer_fires, 0);
		mod_timer(&dwork->timer, jiffies + delay);
	} else {
		enqueue(queue, &dwork->work);
	}
	return true;
}

bool mod_delayed_work(struct workqueue_struct *queue, struct delayed_work *dwork, unsigned long delay)
{
	bool was = cancel_delayed_work(dwork);

	queue_delayed_work(queue, dwork, delay);
	return was;
}

static bool is_running(struct work_struct *work)
{
	struct workqueue_struct *queue = work->kapi_queue;
	return queue && UNDER_LOCK(&queue->lock, queue->running == work);
}

static bool dequeue(struct work_struct *work)
{
	struct workqueue_struct *queue = work->kapi_queue;
	unsigned long flags;
	bool was;

	if (!queue)
		return false;
	spin_lock_irqsave(&queue->lock, flags);
	was = work->kapi_pending == QUEUED;
	if (was) {
		list_del_init(&work->entry);
		work->kapi_pending = IDLE;
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	return was;
}

bool flush_work(struct work_struct *work)
{
	struct workqueue_struct *queue = work->kapi_queue;
	bool was = queue && (work_pending(work) || is_running(work));

	might_sleep();
	if (was)
		wait_event(queue->idle, !work_pending(work) && !is_running(work));
	return was;
}

/* A work that queues itself again is taken off again. */
bool cancel_work_sync(struct work_struct *work)
{
	bool was = dequeue(work);

	might_sleep();
	while (is_running(work)) {
		wait_event(work->kapi_queue->idle, !is_running(work));
		dequeue(work);
	}
	return was;
}

bool cancel_delayed_work(struct delayed_work *dwork)
{
	bool was = del_timer(&dwork->timer);

	if (was)
		dwork->work.kapi_pending = IDLE;
	return dequeue(&dwork->work) || was;
}

bool cancel_delayed_work_sync(struct delayed_work *dwork)
{
	bool was = false;

	do {
		if (del_timer_sync(&dwork->timer)) {
			dwork->work.kapi_pending = IDLE;
			was = true;
		}
		was |= cancel_work_sync(&dwork->work);
	} while (work_pending(&dwork->work));
	return was;
}
