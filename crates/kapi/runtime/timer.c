// SPDX-License-Identifier: MIT OR Apache-2.0
// Timers, high-resolution timers, tasklets, RCU callbacks: one thread, started when first needed.
#include "host.h"
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

static LIST_HEAD(timers);
static LIST_HEAD(hrtimers);
static LIST_HEAD(tasklets);
static DEFINE_SPINLOCK(lock);
static struct task_struct *thread;
static void *volatile running;
static volatile unsigned int events;
/* A tasklet of the runtime's own runs. */
static bool serves;

static bool is_own(const void *fn)
{
	return (const char *)fn >= kapi_runtime_begin && (const char *)fn < kapi_runtime_end;
}

/* Calls back with the lock dropped, as in a soft interrupt. */
static void call(void *what, unsigned long *flags, void (*fn)(void *), void *arg)
{
	running = what;
	spin_unlock_irqrestore(&lock, *flags);
	kapi_softirq_enter();
	fn(arg);
	kapi_softirq_exit();
	spin_lock_irqsave(&lock, *flags);
	running = NULL;
}

static bool run_tasklet(unsigned long *flags)
{
	struct tasklet_struct *t;

	list_for_each_entry(t, &tasklets, entry) {
		if (atomic_read(&t->count))
			continue;
		list_del_init(&t->entry);
		t->state = 0;
		serves = is_own(t->func);
		call(t, flags, (void (*)(void *))t->func, t->kapi_new ? (void *)t : (void *)t->data);
		serves = false;
		return true;
	}
	return false;
}

static bool run_timer(unsigned long *flags, u64 *next_ns)
{
	struct timer_list *t;

	list_for_each_entry(t, &timers, entry) {
		if (time_after_eq(jiffies, t->expires)) {
			list_del_init(&t->entry);
			t->kapi_pending = 0;
			call(t, flags, (void (*)(void *))t->function, t->kapi_new ? (void *)t : (void *)t->data);
			return true;
		}
		*next_ns = min(*next_ns, (u64)(t->expires - jiffies) * (NSEC_PER_SEC / HZ));
	}
	return false;
}

static void call_hrtimer(void *arg)
{
	struct hrtimer *t = arg;

	if (t->function(t) == HRTIMER_RESTART && !t->kapi_pending)
		hrtimer_start(t, ns_to_ktime(t->kapi_expires_ns), HRTIMER_MODE_ABS);
}

static bool run_hrtimer(unsigned long *flags, u64 *next_ns)
{
	u64 now = ktime_get_ns();
	struct hrtimer *t;

	list_for_each_entry(t, &hrtimers, entry) {
		if (now >= t->kapi_expires_ns) {
			list_del_init(&t->entry);
			t->kapi_pending = 0;
			call(t, flags, call_hrtimer, t);
			return true;
		}
		*next_ns = min(*next_ns, t->kapi_expires_ns - now);
	}
	return false;
}

static int softirq(void *data)
{
	unsigned long flags;

	for (;;) {
		unsigned int seen = events;
		u64 next_ns = NSEC_PER_SEC;

		spin_lock_irqsave(&lock, flags);
		while (run_tasklet(&flags) || run_hrtimer(&flags, &next_ns) || run_timer(&flags, &next_ns))
			;
		spin_unlock_irqrestore(&lock, flags);
		kapi_futex_wait(&events, seen, (s64)next_ns);
	}
	return 0;
}

static void kick(void)
{
	static volatile unsigned int started;

	if (!xchg(&started, 1))
		thread = kthread_run(softirq, NULL, "ksoftirqd/0");
	__atomic_fetch_add(&events, 1, __ATOMIC_SEQ_CST);
	kapi_futex_wake(&events, 1);
}

void init_timer(struct timer_list *timer)
{
	memset(timer, 0, sizeof(*timer));
	INIT_LIST_HEAD(&timer->entry);
}

int mod_timer(struct timer_list *timer, unsigned long expires)
{
	unsigned long flags;
	int was;

	if (!timer->function)
		return 0;
	spin_lock_irqsave(&lock, flags);
	was = (int)timer->kapi_pending;
	if (was)
		list_del(&timer->entry);
	timer->expires = expires;
	timer->kapi_site = kapi_module_site();
	timer->kapi_pending = 1;
	list_add_tail(&timer->entry, &timers);
	spin_unlock_irqrestore(&lock, flags);
	kick();
	return was;
}

void add_timer(struct timer_list *timer)
{
	BUG_ON(timer_pending(timer));
	mod_timer(timer, timer->expires);
}

void add_timer_on(struct timer_list *timer, int cpu) { add_timer(timer); }

/* Takes a timer of either kind off its list. Return: whether it was there. */
#define TAKE_OFF(timer) ({ \
	int was = (int)(timer)->kapi_pending; \
	if (was) \
		list_del_init(&(timer)->entry); \
	(timer)->kapi_pending = 0; \
	was; })

int del_timer(struct timer_list *timer) { return UNDER_LOCK(&lock, TAKE_OFF(timer)); }

/* Takes the lock at a moment when no callback of @what runs in another thread. */
static void lock_not_running(void *what, unsigned long *flags)
{
	spin_lock_irqsave(&lock, *flags);
	while (running == what && current != thread) {
		spin_unlock_irqrestore(&lock, *flags);
		yield();
		spin_lock_irqsave(&lock, *flags);
	}
}

#define TAKE_OFF_WHEN_IDLE(timer) ({ \
	unsigned long __flags; \
	int taken; \
	lock_not_running(timer, &__flags); \
	taken = TAKE_OFF(timer); \
	spin_unlock_irqrestore(&lock, __flags); \
	taken; })

int del_timer_sync(struct timer_list *timer) { return TAKE_OFF_WHEN_IDLE(timer); }
SAME_AS(timer_delete, del_timer);
SAME_AS(timer_delete_sync, del_timer_sync);

int try_to_del_timer_sync(struct timer_list *timer)
{
	return UNDER_LOCK(&lock, running == timer ? -1 : TAKE_OFF(timer));
}

SAME_AS(timer_delete_sync_try, try_to_del_timer_sync);

/* What has no function is not armed any more. */
int timer_shutdown(struct timer_list *timer)
{
	int was = del_timer(timer);

	timer->function = NULL;
	return was;
}

int timer_shutdown_sync(struct timer_list *timer)
{
	int was = del_timer_sync(timer);

	timer->function = NULL;
	return was;
}

int timer_reduce(struct timer_list *timer, unsigned long expires)
{
	if (timer_pending(timer) && time_after_eq(expires, timer->expires))
		return 1;
	return mod_timer(timer, expires);
}

int hrtimer_cancel(struct hrtimer *timer) { return TAKE_OFF_WHEN_IDLE(timer); }

/* All clocks are one. */
static struct hrtimer_clock_base clock_base = { .get_time = ktime_get };

void hrtimer_init(struct hrtimer *timer, clockid_t clock, enum hrtimer_mode mode)
{
	memset(timer, 0, sizeof(*timer));
	timer->base = &clock_base;
}

void hrtimer_start(struct hrtimer *timer, ktime_t time, enum hrtimer_mode mode)
{
	bool relative = mode == HRTIMER_MODE_REL || mode == HRTIMER_MODE_REL_PINNED;
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	if (timer->kapi_pending)
		list_del(&timer->entry);
	timer->kapi_expires_ns = (u64)ktime_to_ns(time) + (relative ? ktime_get_ns() : 0);
	timer->kapi_site = kapi_module_site();
	timer->kapi_pending = 1;
	list_add_tail(&timer->entry, &hrtimers);
	spin_unlock_irqrestore(&lock, flags);
	kick();
}

u64 hrtimer_forward(struct hrtimer *timer, ktime_t now, ktime_t interval)
{
	u64 at = (u64)ktime_to_ns(now), step = (u64)ktime_to_ns(interval), times;

	if (at < timer->kapi_expires_ns || !step)
		return 0;
	times = (at - timer->kapi_expires_ns) / step + 1;
	timer->kapi_expires_ns += times * step;
	return times;
}

u64 hrtimer_forward_now(struct hrtimer *timer, ktime_t interval)
{
	return hrtimer_forward(timer, ns_to_ktime(ktime_get_ns()), interval);
}

void tasklet_schedule(struct tasklet_struct *t)
{
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	if (!t->state) {
		t->state = 1;
		t->kapi_site = kapi_module_site();
		list_add_tail(&t->entry, &tasklets);
	}
	spin_unlock_irqrestore(&lock, flags);
	kick();
}

void tasklet_kill(struct tasklet_struct *t)
{
	unsigned long flags, state;

	do {
		lock_not_running(t, &flags);
		state = t->state;
		spin_unlock_irqrestore(&lock, flags);
		if (state)
			yield();
	} while (state);
}

/* A timer whose function is the runtime's own is that of a delayed work. */
static const char *kind_of(const void *fn)
{
	return is_own(fn) ? "the delayed work" : "the timer";
}

static const void *function_of(struct timer_list *timer)
{
	struct delayed_work *dwork = container_of(timer, struct delayed_work, timer);

	return is_own(timer->function) ? dwork->work.func : timer->function;
}

static void tell(const char *kind, const void *fn, unsigned long site)
{
	char name[64];

	scnprintf(name, sizeof(name), "%ps", fn);
	kapi_tell_left(kind, name, site);
}

static bool own_is_busy(void)
{
	struct tasklet_struct *tasklet;

	list_for_each_entry(tasklet, &tasklets, entry)
		if (is_own(tasklet->func))
			return true;
	return serves;
}

/* How long what the runtime still does for the module may take: frames that are on their way. */
#define SERVE_MS 1000

/* What is armed when the module is gone. */
void kapi_tell_timers(void)
{
	struct tasklet_struct *tasklet;
	struct hrtimer *hrtimer;
	struct timer_list *timer;
	unsigned long flags;
	int ms;

	for (ms = 0; ms < SERVE_MS && UNDER_LOCK(&lock, own_is_busy()); ms++)
		kapi_host_sleep(1);
	spin_lock_irqsave(&lock, flags);
	list_for_each_entry(timer, &timers, entry)
		/* One that is not a delayed work's, and the runtime's own, has data. */
		if (!is_own(timer->function) || !timer->data)
			tell(kind_of(timer->function), function_of(timer), timer->kapi_site);
	list_for_each_entry(hrtimer, &hrtimers, entry)
		tell("the high-resolution timer", hrtimer->function, hrtimer->kapi_site);
	list_for_each_entry(tasklet, &tasklets, entry)
		if (!is_own(tasklet->func))
			tell("the tasklet", tasklet->func, tasklet->kapi_site);
	spin_unlock_irqrestore(&lock, flags);
}

/* Takes those of a list that lie in the memory off it. */
#define FORGET(type, head, clear, kind, fn) do { \
	type *t, *next; \
	list_for_each_entry_safe(t, next, head, entry) \
		if ((unsigned long)t - start < bytes) { \
			char text[96]; \
			list_del_init(&t->entry); \
			t->clear = 0; \
			kapi_misuse(KAPI_LEFT, text, (size_t)scnprintf(text, sizeof(text), "%s `%ps` is armed in memory that is freed", \
							  kind, fn), site); \
		} \
} while (0)

void kapi_forget_timers(unsigned long start, unsigned long bytes, unsigned long site)
{
	unsigned long flags;

	if (list_empty(&timers) && list_empty(&hrtimers) && list_empty(&tasklets))
		return;
	spin_lock_irqsave(&lock, flags);
	FORGET(struct timer_list, &timers, kapi_pending, kind_of(t->function), function_of(t));
	FORGET(struct hrtimer, &hrtimers, kapi_pending, "the high-resolution timer", t->function);
	FORGET(struct tasklet_struct, &tasklets, state, "the tasklet", t->func);
	spin_unlock_irqrestore(&lock, flags);
}

/* RCU callbacks, in order, by a thread that waits for a grace period before each batch. */
static struct callback_head *rcu_first, **rcu_last = &rcu_first, *rcu_batch;
static DEFINE_SPINLOCK(rcu_lock);
static volatile unsigned int rcu_queued, rcu_finished, rcu_hurried;
/* The least that a grace period lasts, unless somebody waits for it: longer than what exit does behind call_rcu(). */
#define GRACE_NS (2 * NSEC_PER_MSEC)
#define GRACE_IN_EXIT_NS (100 * NSEC_PER_MSEC)

static void finish_callbacks(unsigned int n)
{
	__atomic_fetch_add(&rcu_finished, n, __ATOMIC_SEQ_CST);
	kapi_futex_wake(&rcu_finished, INT_MAX);
}

static struct callback_head *next_of_batch(void)
{
	struct callback_head *head;

	spin_lock(&rcu_lock);
	head = rcu_batch;
	if (head)
		rcu_batch = head->next;
	spin_unlock(&rcu_lock);
	return head;
}

static int rcu_thread(void *data)
{
	for (;;) {
		struct callback_head *head;

		while (rcu_queued == rcu_finished)
			kapi_futex_wait(&rcu_queued, rcu_finished, -1);
		kapi_futex_wait(&rcu_hurried, 0, READ_ONCE(kapi_exits) ? GRACE_IN_EXIT_NS : GRACE_NS);
		spin_lock(&rcu_lock);
		rcu_hurried = 0;
		rcu_batch = rcu_first;
		rcu_first = NULL;
		rcu_last = &rcu_first;
		spin_unlock(&rcu_lock);
		synchronize_rcu();
		while ((head = next_of_batch())) {
			if (kapi_check > 1)
				kapi_gone(head);
			kapi_softirq_enter();
			head->func(head);
			kapi_softirq_exit();
			finish_callbacks(1);
		}
	}
	return 0;
}

void call_rcu(struct rcu_head *head, rcu_callback_t func)
{
	static volatile unsigned int started;
	unsigned long flags;

	head->func = func;
	head->next = NULL;
	if (kapi_check > 1 && !is_own(func))
		kapi_stands_by(head, KAPI_CALLBACK, func);
	spin_lock_irqsave(&rcu_lock, flags);
	*rcu_last = head;
	rcu_last = &head->next;
	rcu_queued++;
	spin_unlock_irqrestore(&rcu_lock, flags);
	if (!xchg(&started, 1))
		kthread_run(rcu_thread, NULL, "rcu_sched");
	kapi_futex_wake(&rcu_queued, INT_MAX);
}

/* Lets the thread begin with what is queued. */
static void hurry(void)
{
	xchg(&rcu_hurried, 1);
	kapi_futex_wake(&rcu_hurried, INT_MAX);
}

void rcu_barrier(void)
{
	unsigned int goal = rcu_queued, done;

	might_sleep();
	while ((int)((done = rcu_finished) - goal) < 0) {
		hurry();
		kapi_futex_wait(&rcu_finished, done, -1);
	}
}

static unsigned int take_out(struct callback_head **at, unsigned long start, unsigned long bytes)
{
	unsigned int n = 0;

	while (*at)
		if ((unsigned long)*at - start < bytes) {
			*at = (*at)->next;
			n++;
		} else {
			at = &(*at)->next;
		}
	return n;
}

/* The memory goes: so do the callbacks whose heads lie in it. */
void kapi_forget_callbacks(unsigned long start, unsigned long bytes)
{
	unsigned long flags;
	unsigned int n;

	if (!READ_ONCE(rcu_first) && !READ_ONCE(rcu_batch))
		return;
	spin_lock_irqsave(&rcu_lock, flags);
	n = take_out(&rcu_batch, start, bytes) + take_out(&rcu_first, start, bytes);
	for (rcu_last = &rcu_first; *rcu_last; rcu_last = &(*rcu_last)->next)
		;
	spin_unlock_irqrestore(&rcu_lock, flags);
	if (n)
		finish_callbacks(n);
}

/* Blocks that may wait for a grace period. */
#define KFREE_RCU_MAX 4096
/* How long the end waits for them. */
#define SETTLE_MS_MAX 2000

/* A head inside what is to be freed; the callback finds the start in a record beside. */
struct free_later {
	struct rcu_head head;
	void *ptr;
	/* NULL: whatever kvfree() frees. */
	struct kmem_cache *cache;
	/* Who gave it to be freed. */
	unsigned long site;
};

/* Blocks that wait. */
static unsigned int frees_queued;

static void free_now(struct rcu_head *head)
{
	struct free_later *later = container_of(head, struct free_later, head);

	if (later->cache)
		kapi_cache_free_for(later->cache, later->ptr, later->site);
	else
		kapi_kvfree_for(later->ptr, later->site);
	kapi_free(later, sizeof(*later));
	__atomic_fetch_sub(&frees_queued, 1, __ATOMIC_SEQ_CST);
}

static bool free_later(struct kmem_cache *cache, void *ptr)
{
	struct free_later *later = kapi_alloc(sizeof(*later));

	if (!later)
		return false;
	later->ptr = ptr;
	later->cache = cache;
	later->site = kapi_module_site();
	__atomic_fetch_add(&frees_queued, 1, __ATOMIC_SEQ_CST);
	call_rcu(&later->head, free_now);
	return true;
}

/* Frees an object of a cache when no reader can hold it any more; until then it stays as it is. */
void kapi_cache_free_rcu(struct kmem_cache *cache, void *object)
{
	if (free_later(cache, object))
		return;
	synchronize_rcu();
	kmem_cache_free(cache, object);
}

void kvfree_call_rcu(struct rcu_head *head, void *ptr)
{
	if (head && free_later(NULL, ptr)) {
		/* Who frees faster than grace periods pass has to wait for them. */
		if (rcu_queued - rcu_finished > KFREE_RCU_MAX && preemptible() && !kapi_rcu_read_held())
			rcu_barrier();
		return;
	}
	synchronize_rcu();
	kvfree(ptr);
}

/* After exit: what was given to kfree_rcu() goes without the module, unless a reader of its own is left. */
void kapi_settle_frees(void)
{
	int turn;

	for (turn = 0; turn < SETTLE_MS_MAX && READ_ONCE(frees_queued); turn++) {
		hurry();
		kapi_futex_wait(&frees_queued, READ_ONCE(frees_queued), NSEC_PER_MSEC);
	}
}

/* Blocks wait in the callbacks' queue. */
void kvfree_rcu_barrier(void)
{
	if (rcu_queued != rcu_finished)
		rcu_barrier();
}
