// SPDX-License-Identifier: MIT OR Apache-2.0
// Timers, high-resolution timers, tasklets: one thread, started when first needed.
#include "host.h"
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

static LIST_HEAD(timers);
static LIST_HEAD(hrtimers);
static struct tasklet_struct *tasklets, **tasklets_end = &tasklets;
static DEFINE_SPINLOCK(lock);
static struct task_struct *thread;
static void *volatile running;
static volatile unsigned int events;
/* A tasklet of the runtime's own runs. */
static bool serves;

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

#define for_each_tasklet(t, at) for (at = &tasklets; (t = *at); at = &t->next)

/* Takes the tasklet out that @at leads to. */
static void take_out_tasklet(struct tasklet_struct **at)
{
	struct tasklet_struct *t = *at;

	*at = t->next;
	if (tasklets_end == &t->next)
		tasklets_end = at;
	t->state = 0;
}

static bool run_tasklet(unsigned long *flags)
{
	struct tasklet_struct *t, **at;

	for_each_tasklet(t, at) {
		if (atomic_read(&t->count))
			continue;
		take_out_tasklet(at);
		serves = kapi_is_own(t->func);
		call(t, flags, (void (*)(void *))t->func, t->use_callback ? (void *)t : (void *)t->data);
		serves = false;
		return true;
	}
	return false;
}

/* What its function gets. */
static void *argument(struct timer_list *timer)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(4, 15, 0)
	if (!(timer->flags & KAPI_TIMER_NEW))
		return (void *)timer->data;
#endif
	return timer;
}

static void take_out_timer(struct timer_list *timer)
{
	list_del(&timer->entry);
	WRITE_ONCE(timer->entry.next, NULL);
}

static bool run_timer(unsigned long *flags, u64 *next_ns)
{
	struct timer_list *t;

	list_for_each_entry(t, &timers, entry) {
		if (time_after_eq(jiffies, t->expires)) {
			take_out_timer(t);
			call(t, flags, (void (*)(void *))t->function, argument(t));
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
}

int mod_timer(struct timer_list *timer, unsigned long expires)
{
	unsigned long flags;
	int was;

	if (!timer->function)
		return 0;
	spin_lock_irqsave(&lock, flags);
	was = timer_pending(timer);
	if (was)
		list_del(&timer->entry);
	timer->expires = expires;
	timer->kapi_site = kapi_site_pack(kapi_module_site());
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

/* Takes a timer off its list. Return: whether it was there. */
static int take_off(struct timer_list *timer)
{
	int was = timer_pending(timer);

	if (was)
		take_out_timer(timer);
	return was;
}

static int take_off_hrtimer(struct hrtimer *timer)
{
	int was = (int)timer->kapi_pending;

	if (was)
		list_del_init(&timer->entry);
	timer->kapi_pending = 0;
	return was;
}

int del_timer(struct timer_list *timer) { return UNDER_LOCK(&lock, take_off(timer)); }

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

#define WHEN_IDLE(timer, take) ({ \
	unsigned long __flags; \
	int taken; \
	lock_not_running(timer, &__flags); \
	taken = take(timer); \
	spin_unlock_irqrestore(&lock, __flags); \
	taken; })

int del_timer_sync(struct timer_list *timer) { return WHEN_IDLE(timer, take_off); }
SAME_AS(timer_delete, del_timer);
SAME_AS(timer_delete_sync, del_timer_sync);

int try_to_del_timer_sync(struct timer_list *timer)
{
	return UNDER_LOCK(&lock, running == timer ? -1 : take_off(timer));
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

int hrtimer_cancel(struct hrtimer *timer) { return WHEN_IDLE(timer, take_off_hrtimer); }

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
		t->state = 1 | (unsigned long)(u32)kapi_site_pack(kapi_module_site()) << 32;
		t->next = NULL;
		*tasklets_end = t;
		tasklets_end = &t->next;
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
	return kapi_is_own(fn) ? "the delayed work" : "the timer";
}

static const void *function_of(struct timer_list *timer)
{
	struct delayed_work *dwork = container_of(timer, struct delayed_work, timer);

	return kapi_is_own(timer->function) ? dwork->work.func : timer->function;
}

static void tell(const char *kind, const void *fn, unsigned long site)
{
	char name[64];

	scnprintf(name, sizeof(name), "%ps", fn);
	kapi_tell_left(kind, name, site);
}

static bool own_is_busy(void)
{
	struct tasklet_struct *tasklet, **at;

	for_each_tasklet(tasklet, at)
		if (kapi_is_own(tasklet->func))
			return true;
	return serves;
}

/* How long what the runtime still does for the module may take: frames that are on their way. */
#define SERVE_MS 1000

/* What is armed when the module is gone. */
void kapi_tell_timers(void)
{
	struct tasklet_struct *tasklet, **at;
	struct hrtimer *hrtimer;
	struct timer_list *timer;
	unsigned long flags;
	int ms;

	for (ms = 0; ms < SERVE_MS && UNDER_LOCK(&lock, own_is_busy()); ms++)
		kapi_host_sleep(1);
	spin_lock_irqsave(&lock, flags);
	list_for_each_entry(timer, &timers, entry)
		if (!(timer->flags & KAPI_TIMER_OWN))
			tell(kind_of(timer->function), function_of(timer), kapi_site_of(timer->kapi_site));
	list_for_each_entry(hrtimer, &hrtimers, entry)
		tell("the high-resolution timer", hrtimer->function, hrtimer->kapi_site);
	for_each_tasklet(tasklet, at)
		if (!kapi_is_own(tasklet->func))
			tell("the tasklet", tasklet->func, kapi_site_of((s32)(tasklet->state >> 32)));
	spin_unlock_irqrestore(&lock, flags);
}

static void tell_freed(const char *kind, const void *fn, unsigned long site)
{
	char text[96];

	kapi_misuse(KAPI_LEFT, text,
		    (size_t)scnprintf(text, sizeof(text), "%s `%ps` is armed in memory that is freed", kind, fn), site);
}

/* Takes the tasklets off their list that lie in the memory. */
static void forget_tasklets(unsigned long start, unsigned long bytes, unsigned long site)
{
	struct tasklet_struct *t, **at = &tasklets;

	while ((t = *at))
		if ((unsigned long)t - start < bytes) {
			take_out_tasklet(at);
			tell_freed("the tasklet", t->func, site);
		} else {
			at = &t->next;
		}
}

void kapi_forget_timers(unsigned long start, unsigned long bytes, unsigned long site)
{
	struct hrtimer *hrtimer, *next_hrtimer;
	struct timer_list *timer, *next;
	unsigned long flags;

	if (list_empty(&timers) && list_empty(&hrtimers) && !READ_ONCE(tasklets))
		return;
	spin_lock_irqsave(&lock, flags);
	list_for_each_entry_safe(timer, next, &timers, entry)
		if ((unsigned long)timer - start < bytes) {
			take_out_timer(timer);
			tell_freed(kind_of(timer->function), function_of(timer), site);
		}
	list_for_each_entry_safe(hrtimer, next_hrtimer, &hrtimers, entry)
		if ((unsigned long)hrtimer - start < bytes) {
			take_off_hrtimer(hrtimer);
			tell_freed("the high-resolution timer", hrtimer->function, site);
		}
	forget_tasklets(start, bytes, site);
	spin_unlock_irqrestore(&lock, flags);
}
