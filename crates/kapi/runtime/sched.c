// SPDX-License-Identifier: MIT OR Apache-2.0
// Tasks, sleeping and waking, kernel threads.
//
// How it works: a task sleeps on its own state word. set_current_state() stores it, schedule() waits
// until somebody stores TASK_RUNNING, so a wake-up between the two is never lost. Everything that
// waits (wait queues, completions, semaphores) uses that or a word of its own.
#include "host.h"
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/time.h>

#define SHOULD_STOP 1
#define IS_KTHREAD 2
#define SHOULD_PARK 4

static const struct cred root_cred;
static struct signal_struct one_thread = { .nr_threads = 1 };
static struct task_struct insmod_task;
static struct mm_struct insmod_mm;
static DEFINE_SPINLOCK(tasks_lock);
static int last_pid = 1000;
static int last_cpu;

struct task_struct init_task = {
	.comm = "swapper/0",
	.flags = PF_KTHREAD,
	.prio = DEFAULT_PRIO, .static_prio = DEFAULT_PRIO, .normal_prio = DEFAULT_PRIO,
	.parent = &init_task, .real_parent = &init_task, .group_leader = &init_task,
	.children = LIST_HEAD_INIT(init_task.children),
	.sibling = LIST_HEAD_INIT(init_task.sibling),
	.tasks = LIST_HEAD_INIT(init_task.tasks),
	.cred = &root_cred, .real_cred = &root_cred,
};

static void task_add(struct task_struct *task, pid_t pid, struct task_struct *parent)
{
	unsigned long flags;

	task->pid = task->tgid = task->kapi_pid.nr = pid;
	spin_lock_init(&task->alloc_lock);
	task->prio = task->static_prio = task->normal_prio = DEFAULT_PRIO;
	task->parent = task->real_parent = parent;
	task->group_leader = task;
	task->signal = &one_thread;
	task->cred = task->real_cred = &root_cred;
	task->start_time = ktime_get_ns();
	INIT_LIST_HEAD(&task->children);
	spin_lock_irqsave(&tasks_lock, flags);
	list_add_tail(&task->tasks, &init_task.tasks);
	list_add_tail(&task->sibling, &parent->children);
	spin_unlock_irqrestore(&tasks_lock, flags);
}

static void finish(struct task_struct *task, int result)
{
	unsigned long flags;

	spin_lock_irqsave(&tasks_lock, flags);
	/* A thread that walks through the tasks and has come to this one can go on from it. */
	list_del_rcu(&task->tasks);
	list_del_rcu(&task->sibling);
	spin_unlock_irqrestore(&tasks_lock, flags);
	kapi_gone(task);
	task->kapi_result = result;
	smp_store_release(&task->kapi_done, 1);
	kapi_futex_wake(&task->kapi_done, INT_MAX);
}

/* The thread that runs init and exit: insmod, which is also process 1's only child. */
void kapi_sched_start(void)
{
	static struct task_struct init;

	strcpy(init.comm, "init");
	task_add(&init, 1, &init_task);
	strcpy(insmod_task.comm, "insmod");
	insmod_task.mm = insmod_task.active_mm = &insmod_mm;
	task_add(&insmod_task, ++last_pid, &init);
	kapi_task_set(&insmod_task, 0);
}

void schedule(void) { schedule_timeout(MAX_SCHEDULE_TIMEOUT); }

static bool sleep_until_woken(s64 timeout_ns)
{
	struct task_struct *task = current;
	u64 end = ktime_get_ns() + (u64)timeout_ns;
	unsigned int state;

	might_sleep();
	yield();
	if (task->__state == TASK_RUNNING) {
		yield();
		return true;
	}
	while ((state = task->__state) != TASK_RUNNING) {
		if (signal_pending_state(state, task)) {
			task->__state = TASK_RUNNING;
			return true;
		}
		s64 left = timeout_ns < 0 ? -1 : (s64)(end - ktime_get_ns());

		if (timeout_ns >= 0 && left <= 0) {
			task->__state = TASK_RUNNING;
			return false;
		}
		kapi_futex_wait(&task->__state, state, left);
	}
	return true;
}

long schedule_timeout(long timeout)
{
	unsigned long end = jiffies + (unsigned long)timeout;
	long left;

	if (timeout == MAX_SCHEDULE_TIMEOUT) {
		sleep_until_woken(-1);
		return timeout;
	}
	if (timeout < 0) {
		printk(KERN_ERR "schedule_timeout: wrong timeout value %lx\n", timeout);
		current->__state = TASK_RUNNING;
		return 0;
	}
	if (!sleep_until_woken((s64)timeout * (NSEC_PER_SEC / HZ))) {
		/* A jiffy began before the call, and the tick may be late. */
		while (time_before(jiffies, end))
			yield();
		return 0;
	}
	left = (long)(end - jiffies);
	return left < 0 ? 0 : left;
}

long schedule_timeout_interruptible(long timeout)
{
	set_current_state(TASK_INTERRUPTIBLE);
	return schedule_timeout(timeout);
}

long schedule_timeout_uninterruptible(long timeout)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	return schedule_timeout(timeout);
}

long schedule_timeout_killable(long timeout)
{
	set_current_state(TASK_KILLABLE);
	return schedule_timeout(timeout);
}

SAME_AS(schedule_timeout_idle, schedule_timeout_uninterruptible);
SAME_AS(io_schedule_timeout, schedule_timeout);
SAME_AS(io_schedule, schedule);

int wake_up_state(struct task_struct *task, unsigned int state)
{
	unsigned int old = READ_ONCE(task->__state);

	do {
		if (!(old & state))
			return 0;
	} while (!try_cmpxchg(&task->__state, &old, TASK_RUNNING));
	kapi_futex_wake(&task->__state, 1);
	return 1;
}

int wake_up_process(struct task_struct *task) { return wake_up_state(task, TASK_NORMAL); }
struct task_struct *find_task_by_pid(pid_t pid)
{
	struct task_struct *task;

	for_each_process(task)
		if (task->pid == pid)
			return task;
	return NULL;
}

struct pid *find_vpid(int nr)
{
	struct task_struct *task = find_task_by_pid(nr);

	return task ? &task->kapi_pid : NULL;
}

struct task_struct *pid_task(struct pid *pid, enum pid_type type)
{
	return pid ? container_of(pid, struct task_struct, kapi_pid) : NULL;
}

struct user_namespace {
	int level;
} init_user_ns;

/* A process that uses the module's files; never freed, as no task is. */
struct task_struct *kapi_process_new(const char *name, uid_t uid)
{
	struct task_struct *task = kapi_alloc(sizeof(*task) + sizeof(struct cred));
	struct cred *cred = (struct cred *)(task + 1);

	if (!task)
		return NULL;
	strscpy(task->comm, name, sizeof(task->comm));
	task->mm = task->active_mm = &insmod_mm;
	task->kapi_cpu = (int)((unsigned int)__atomic_add_fetch(&last_cpu, 1, __ATOMIC_RELAXED) % nr_cpu_ids);
	task_add(task, __atomic_add_fetch(&last_pid, 1, __ATOMIC_RELAXED), &init_task);
	cred->uid = cred->euid = cred->suid = cred->fsuid = KUIDT_INIT(uid);
	cred->gid = cred->egid = cred->sgid = cred->fsgid = KGIDT_INIT(uid);
	task->cred = task->real_cred = cred;
	return task;
}

/* All processes are the host's one. */
unsigned long get_mm_rss(struct mm_struct *mm) { return kapi_rss_pages(); }
struct mm_struct *get_task_mm(struct task_struct *task) { return task->flags & PF_KTHREAD ? NULL : task->mm; }
void mmput(struct mm_struct *mm) {}

void kapi_process_end(struct task_struct *task) { finish(task, 0); }

unsigned long long sched_clock(void) { return ktime_get_ns(); }

/* Waking the task does not end it. */
void msleep(unsigned int ms)
{
	u64 end = ktime_get_ns() + (u64)ms * NSEC_PER_MSEC;
	s64 left = (s64)ms * NSEC_PER_MSEC;

	for (; left > 0; left = (s64)(end - ktime_get_ns())) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		sleep_until_woken(left);
	}
}

unsigned long msleep_interruptible(unsigned int ms)
{
	u64 end = ktime_get_ns() + (u64)ms * NSEC_PER_MSEC, now;

	set_current_state(TASK_INTERRUPTIBLE);
	sleep_until_woken((s64)ms * NSEC_PER_MSEC);
	now = ktime_get_ns();
	return now < end ? (end - now) / NSEC_PER_MSEC : 0;
}

int schedule_hrtimeout(ktime_t *expires, const enum hrtimer_mode mode)
{
	bool absolute = mode == HRTIMER_MODE_ABS || mode == HRTIMER_MODE_ABS_PINNED;
	s64 left = expires ? ktime_to_ns(*expires) - (absolute ? (s64)ktime_get_ns() : 0) : -1;

	if (expires && left <= 0) {
		set_current_state(TASK_RUNNING);
		return 0;
	}
	return sleep_until_woken(left) ? -EINTR : 0;
}

/* What is asked for precisely is late enough for every range. */
int schedule_hrtimeout_range(ktime_t *expires, u64 delta, const enum hrtimer_mode mode)
{
	return schedule_hrtimeout(expires, mode);
}

void usleep_range(unsigned long us_min, unsigned long us_max)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	sleep_until_woken((s64)us_min * NSEC_PER_USEC);
}

void __ndelay(unsigned long ns)
{
	u64 end = ktime_get_ns() + ns;

	while (ktime_get_ns() < end)
		cpu_relax();
}

static void thread_main(void *arg)
{
	struct task_struct *task = arg;
	int result = -EINTR;

	kapi_task_set(task, task->kapi_cpu);
	sleep_until_woken(-1);
	kapi_task_set(task, task->kapi_cpu); /* as kthread_bind() may have said meanwhile */
	if (!(task->kapi_flags & SHOULD_STOP))
		result = task->kapi_thread(task->kapi_data);
	finish(task, result);
}

/* Tasks are not freed: a module may look at one, or stop it, long after its end. */
/* Where all threads begin: for probes. */
static noinline int kernel_clone(struct task_struct *task)
{
	return kapi_thread_start(thread_main, task);
}

struct task_struct *kthread_create_on_node(int (*threadfn)(void *data), void *data, int node, const char *namefmt, ...)
{
	struct task_struct *task = kapi_alloc(sizeof(*task));

	/* The runtime's own workers are made when they are first needed, as there are none before a module. */
	if (kapi_module_site() == _RET_IP_)
		might_sleep();
	if (!task)
		return ERR_PTR(-ENOMEM);
	task->kapi_thread = threadfn;
	task->kapi_data = data;
	task->flags = PF_KTHREAD;
	task->kapi_flags = IS_KTHREAD;
	task->__state = TASK_UNINTERRUPTIBLE;
	task->kapi_cpu = (int)((unsigned int)__atomic_add_fetch(&last_cpu, 1, __ATOMIC_RELAXED) % nr_cpu_ids);
	WITH_ARGS(namefmt, vsnprintf(task->comm, sizeof(task->comm), namefmt, args));
	task_add(task, __atomic_add_fetch(&last_pid, 1, __ATOMIC_RELAXED), &init_task);
	/* The runtime's own workers are nobody's to stop. */
	if ((const char *)threadfn < kapi_runtime_begin || (const char *)threadfn >= kapi_runtime_end)
		kapi_stands(task, KAPI_THREAD, task->comm);
	if (kernel_clone(task)) {
		finish(task, -EAGAIN);
		return ERR_PTR(-EAGAIN);
	}
	return task;
}

struct task_struct *kthread_create_on_cpu(int (*threadfn)(void *data), void *data,
					  unsigned int cpu, const char *namefmt)
{
	struct task_struct *task = kthread_create(threadfn, data, namefmt, cpu);

	if (!IS_ERR(task))
		kthread_bind(task, cpu);
	return task;
}

void kthread_bind(struct task_struct *task, unsigned int cpu) { task->kapi_cpu = (int)(cpu % nr_cpu_ids); }
void *kthread_data(struct task_struct *task) { return task->kapi_data; }
bool kthread_should_stop(void) { return READ_ONCE(current->kapi_flags) & SHOULD_STOP; }

int kthread_stop(struct task_struct *task)
{
	might_sleep();
	__atomic_fetch_or(&task->kapi_flags, SHOULD_STOP, __ATOMIC_SEQ_CST);
	kthread_unpark(task);
	wake_up_state(task, ~0U);
	while (!smp_load_acquire(&task->kapi_done))
		kapi_futex_wait(&task->kapi_done, 0, -1);
	return task->kapi_result;
}

bool kthread_should_park(void) { return READ_ONCE(current->kapi_flags) & SHOULD_PARK; }

/* A thread parks until it is told to go on; who told it to waits until it is there. */
void kthread_parkme(void)
{
	struct task_struct *task = current;

	WRITE_ONCE(task->kapi_parked, 1);
	kapi_futex_wake(&task->kapi_parked, INT_MAX);
	while (READ_ONCE(task->kapi_flags) & SHOULD_PARK)
		kapi_futex_wait(&task->kapi_flags, READ_ONCE(task->kapi_flags) | SHOULD_PARK, -1);
	WRITE_ONCE(task->kapi_parked, 0);
}

int kthread_park(struct task_struct *task)
{
	might_sleep();
	if (READ_ONCE(task->kapi_done))
		return -ENOSYS;
	__atomic_fetch_or(&task->kapi_flags, SHOULD_PARK, __ATOMIC_SEQ_CST);
	wake_up_state(task, ~0U);
	while (task != current && !READ_ONCE(task->kapi_parked))
		kapi_futex_wait(&task->kapi_parked, 0, -1);
	return 0;
}

void kthread_unpark(struct task_struct *task)
{
	__atomic_fetch_and(&task->kapi_flags, ~SHOULD_PARK, __ATOMIC_SEQ_CST);
	kapi_futex_wake(&task->kapi_flags, INT_MAX);
}

void do_exit(long code)
{
	if (!(current->kapi_flags & IS_KTHREAD)) {
		printk(KERN_CRIT "do_exit() was called by the thread that loads the module\n");
		kapi_stop("do_exit", 7);
	}
	finish(current, (int)code);
	kapi_thread_exit();
}

int kernel_thread(int (*fn)(void *), void *arg, unsigned long flags)
{
	struct task_struct *task = kthread_run(fn, arg, "%s", current->comm);

	return IS_ERR(task) ? (int)PTR_ERR(task) : task->pid;
}

void daemonize(const char *name, ...) { WITH_ARGS(name, vsnprintf(current->comm, sizeof(current->comm), name, args)); }
