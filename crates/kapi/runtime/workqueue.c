// SPDX-License-Identifier: MIT OR Apache-2.0
// Work queues: a list and a thread each.
#include "host.h"
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

struct workqueue_struct {
	struct list_head list;
	spinlock_t lock;
	struct list_head works;
	struct work_struct *running;
	/* Of that, which may free itself. */
	const void *running_func;
	unsigned long running_site;
	wait_queue_head_t more, idle;
	struct task_struct *thread;
	/* Its place in `numbered`. */
	u16 number;
	/* Its folder of attributes, and which CPUs a work may go to: kept, though there is one thread. */
	struct proc_dir_entry *folder;
	unsigned int scope;
};

/* A work has its queue's number, from 1 on. */
static struct workqueue_struct *numbered[U16_MAX + 1];

static struct workqueue_struct *queue_of(const struct work_struct *work)
{
	return READ_ONCE(numbered[READ_ONCE(work->kapi_queue)]);
}

/* What its function gets. */
static void *argument(struct work_struct *work)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(2, 6, 20)
	return work->kapi_data;
#else
	return work;
#endif
}

static bool queue_is_idle(struct workqueue_struct *queue)
{
	return UNDER_LOCK(&queue->lock, list_empty(&queue->works) && !queue->running);
}

static int worker(void *data)
{
	struct workqueue_struct *queue = data;
	unsigned long flags;

	current->flags |= PF_WQ_WORKER;
	while (!kthread_should_stop() || !queue_is_idle(queue)) {
		struct work_struct *work = NULL;

		wait_event(queue->more, !list_empty(&queue->works) || kthread_should_stop());
		spin_lock_irqsave(&queue->lock, flags);
		if (!list_empty(&queue->works)) {
			work = list_first_entry(&queue->works, struct work_struct, entry);
			list_del_init(&work->entry);
			work->kapi_pending = 0; /* IDLE: it may be queued again while it runs */
			queue->running = work;
			queue->running_func = work->func;
			queue->running_site = kapi_site_of(work->kapi_site);
		}
		spin_unlock_irqrestore(&queue->lock, flags);
		if (!work)
			continue;
		/* The work may free itself: it is not touched afterwards. */
		((void (*)(void *))work->func)(argument(work));
		spin_lock_irqsave(&queue->lock, flags);
		queue->running = NULL;
		spin_unlock_irqrestore(&queue->lock, flags);
		wake_up_all(&queue->idle);
	}
	return 0;
}

static const char *const scopes[] = { "default", "cpu", "smt", "cache", "cache_shard", "numa", "system" };

static ssize_t scope_read(struct file *file, char __user *user, size_t count, loff_t *pos)
{
	struct workqueue_struct *queue = pde_data(file_inode(file));
	char text[16];
	int len = scnprintf(text, sizeof(text), "%s\n", scopes[queue->scope]);

	return simple_read_from_buffer(user, count, pos, text, (size_t)len);
}

static ssize_t scope_write(struct file *file, const char __user *user, size_t count, loff_t *pos)
{
	struct workqueue_struct *queue = pde_data(file_inode(file));
	char text[16] = "";
	unsigned int i;

	if (count >= sizeof(text) || copy_from_user(text, user, count))
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(scopes); i++)
		if (!strcmp(strim(text), scopes[i])) {
			queue->scope = i;
			return (ssize_t)count;
		}
	return -EINVAL;
}

static void add_attributes(struct workqueue_struct *queue, const char *name)
{
	static const struct file_operations fops = { .read = scope_read, .write = scope_write };
	static const char *const path[] = { "sys", "bus", "workqueue", "devices" };
	struct proc_dir_entry *folder = NULL;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(path); i++)
		folder = kapi_proc_folder(path[i], folder);
	queue->folder = kapi_proc_folder(name, folder);
	kapi_proc_fops("affinity_scope", 0644, queue->folder, &fops, queue);
}

static LIST_HEAD(queues);
static DEFINE_SPINLOCK(queues_lock);

/* Gives a queue the first number that is free. Return: false if none is. */
static bool give_number(struct workqueue_struct *queue)
{
	unsigned int number = 1;

	while (number <= U16_MAX && numbered[number])
		number++;
	if (number > U16_MAX)
		return false;
	queue->number = (u16)number;
	numbered[number] = queue;
	list_add_tail(&queue->list, &queues);
	return true;
}

static void give_back(struct workqueue_struct *queue)
{
	unsigned long flags;

	spin_lock_irqsave(&queues_lock, flags);
	list_del(&queue->list);
	WRITE_ONCE(numbered[queue->number], NULL);
	spin_unlock_irqrestore(&queues_lock, flags);
	kapi_free(queue, sizeof(*queue));
}

/* For a caller that may not be allowed to sleep. */
static struct workqueue_struct *make(const char *name, unsigned int flags)
{
	struct workqueue_struct *queue = kapi_alloc(sizeof(*queue));

	if (!queue)
		return NULL;
	spin_lock_init(&queue->lock);
	INIT_LIST_HEAD(&queue->works);
	init_waitqueue_head(&queue->more);
	init_waitqueue_head(&queue->idle);
	if (!UNDER_LOCK(&queues_lock, give_number(queue))) {
		kapi_free(queue, sizeof(*queue));
		return NULL;
	}
	queue->thread = kthread_run(worker, queue, "%s", name);
	if (IS_ERR(queue->thread)) {
		give_back(queue);
		return NULL;
	}
	kapi_stands(queue, "the work queue", name);
	if (flags & WQ_SYSFS)
		add_attributes(queue, name);
	return queue;
}

struct workqueue_struct *alloc_workqueue(const char *fmt, unsigned int flags, int active, ...)
{
	char name[TASK_COMM_LEN];

	might_sleep();
	WITH_ARGS(active, vsnprintf(name, sizeof(name), fmt, args));
	return make(name, flags);
}

/* A work may be scheduled where sleeping is forbidden. */
struct workqueue_struct *kapi_system_queue(void)
{
	static struct workqueue_struct *queue;
	static DEFINE_SPINLOCK(lock);

	UNDER_LOCK(&lock, queue = queue ?: make("events", 0));
	kapi_gone(queue);
	return queue;
}

void flush_workqueue(struct workqueue_struct *queue) { wait_event(queue->idle, queue_is_idle(queue)); }

void destroy_workqueue(struct workqueue_struct *queue)
{
	flush_workqueue(queue);
	kthread_stop(queue->thread);
	kapi_gone(queue);
	proc_remove(queue->folder);
	give_back(queue);
}

/* Whoever takes a work from IDLE is the only one to set its timer or to queue it. */
enum { IDLE, TIMER, QUEUED };

static bool claim(struct work_struct *work, u16 state)
{
	u16 idle = IDLE;

	return try_cmpxchg(&work->kapi_pending, &idle, state);
}

static void enqueue(struct workqueue_struct *queue, struct work_struct *work)
{
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	work->kapi_queue = queue->number;
	work->kapi_site = kapi_site_pack(kapi_module_site());
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

	enqueue(dwork->wq, &dwork->work);
}

bool queue_delayed_work(struct workqueue_struct *queue, struct delayed_work *dwork, unsigned long delay)
{
	if (!claim(&dwork->work, TIMER))
		return false;
	if (delay) {
		dwork->work.kapi_queue = queue->number;
		dwork->wq = queue;
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
	struct workqueue_struct *queue = queue_of(work);
	return queue && UNDER_LOCK(&queue->lock, queue->running == work);
}

static bool dequeue(struct work_struct *work)
{
	struct workqueue_struct *queue = queue_of(work);
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
	struct workqueue_struct *queue = queue_of(work);
	bool was = queue && (work_pending(work) || is_running(work));

	might_sleep();
	if (was)
		wait_event(queue->idle, !work_pending(work) && !is_running(work));
	return was;
}

/* A work that queues itself again is taken off again. */
bool cancel_work_sync(struct work_struct *work)
{
	struct workqueue_struct *queue;
	bool was = dequeue(work);

	might_sleep();
	while (is_running(work)) {
		queue = queue_of(work);
		wait_event(queue->idle, !is_running(work));
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

static void tell(const char *what, const struct work_struct *work)
{
	char name[64];

	scnprintf(name, sizeof(name), "%ps", work->func);
	kapi_tell_left(what, name, kapi_site_of(work->kapi_site));
}

static void tell_running(struct workqueue_struct *queue)
{
	char name[64];

	scnprintf(name, sizeof(name), "%ps", queue->running_func);
	kapi_tell_left("the running work", name, queue->running_site);
}

/* Works that wait or run when the module is gone. */
static void tell_works(struct workqueue_struct *queue)
{
	struct work_struct *work;
	unsigned long flags;

	spin_lock_irqsave(&queue->lock, flags);
	if (queue->running)
		tell_running(queue);
	list_for_each_entry(work, &queue->works, entry)
		tell("the queued work", work);
	spin_unlock_irqrestore(&queue->lock, flags);
}

/* How long threads that are at their end may still take. */
#define END_MS 50

/* After exit: tells what is left of the module. */
void kapi_tell_all(void)
{
	struct workqueue_struct *queue;
	int ms;

	for (ms = 0; ms < END_MS && kapi_any_stands(KAPI_THREAD); ms++)
		kapi_host_sleep(1);
	kapi_tell_users();
	kapi_tell_timers();
	list_for_each_entry(queue, &queues, list)
		tell_works(queue);
	kapi_tell_standing();
}

/* The memory goes: so does a work that waits in it. */
static void forget_works(struct workqueue_struct *queue, unsigned long start, unsigned long bytes, unsigned long site)
{
	struct work_struct *work, *next;
	unsigned long flags;
	char text[96];

	spin_lock_irqsave(&queue->lock, flags);
	list_for_each_entry_safe(work, next, &queue->works, entry)
		if ((unsigned long)work - start < bytes) {
			list_del_init(&work->entry);
			work->kapi_pending = IDLE;
			kapi_misuse(KAPI_LEFT, text, (size_t)scnprintf(text, sizeof(text), "the work `%ps` is queued in memory that is freed",
							  work->func), site);
		}
	spin_unlock_irqrestore(&queue->lock, flags);
}

/* Before memory is freed at @site. */
void kapi_forget(unsigned long start, unsigned long bytes, unsigned long site)
{
	struct workqueue_struct *queue;
	unsigned long flags;

	kapi_forget_timers(start, bytes, site);
	kapi_forget_devices(start, bytes);
	kapi_forget_callbacks(start, bytes);
	kapi_forget_standing(start, bytes, site);
	kapi_forget_objects(start, bytes, site);
	if (list_empty(&queues))
		return;
	spin_lock_irqsave(&queues_lock, flags);
	list_for_each_entry(queue, &queues, list)
		forget_works(queue, start, bytes, site);
	spin_unlock_irqrestore(&queues_lock, flags);
}
