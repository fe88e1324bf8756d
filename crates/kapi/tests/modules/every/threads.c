/* Every macro of atomics, locks, threads, waiting, timers, works and time. */
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/kref.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/poll.h>
#include <linux/prefetch.h>
#include <linux/random.h>
#include <linux/refcount.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/semaphore.h>
#include <linux/seqlock.h>
#include <linux/signal.h>
#include <linux/spinlock.h>
#include <linux/time.h>
#include <linux/timer.h>
#include <linux/version.h>
#include <linux/timex.h>
#include <linux/utsname.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <asm/msr.h>
#include <asm/processor.h>

static long sum;

void atomics(void)
{
	atomic_t a = ATOMIC_INIT(5);
	atomic64_t b = ATOMIC64_INIT(5);
	atomic_long_t c = ATOMIC_LONG_INIT(5);
	int word = 1, old = 1;
	u64 wide = 1;
	refcount_t refs = REFCOUNT_INIT(1);
	struct kref kref = KREF_INIT(1);

	atomic_inc(&a);
	atomic_dec(&a);
	sum += atomic_inc_return(&a) + atomic_dec_return(&a) + atomic_fetch_inc(&a) + atomic_fetch_dec(&a);
	sum += atomic_inc_and_test(&a) + atomic_dec_and_test(&a) + atomic_sub_and_test(2, &a);
	sum += atomic_add_negative(-9, &a) + atomic_add_unless(&a, 1, 5) + atomic_inc_not_zero(&a);
	atomic_set_mask(4, &a);
	atomic_clear_mask(4, &a);
	atomic64_inc(&b);
	atomic64_dec(&b);
	sum += atomic64_inc_return(&b) + atomic64_dec_return(&b);
	sum += atomic64_fetch_inc(&b) + atomic64_fetch_dec(&b);
	sum += atomic64_inc_and_test(&b) + atomic64_dec_and_test(&b) + atomic64_sub_and_test(2, &b);
	sum += atomic64_add_negative(-9, &b) + atomic64_add_unless(&b, 1, 5) + atomic64_inc_not_zero(&b);
	atomic_long_set(&c, 5);
	atomic_long_add(1, &c);
	atomic_long_sub(1, &c);
	atomic_long_inc(&c);
	atomic_long_dec(&c);
	sum += atomic_long_read(&c) + atomic_long_xchg(&c, 5) + atomic_long_cmpxchg(&c, 5, 6);
	sum += atomic_long_add_return(1, &c) + atomic_long_sub_return(1, &c);
	sum += atomic_long_inc_return(&c) + atomic_long_dec_return(&c);
	sum += atomic_long_fetch_add(1, &c) + atomic_long_fetch_sub(1, &c);
	sum += atomic_long_inc_and_test(&c) + atomic_long_dec_and_test(&c);
	sum += atomic_long_sub_and_test(1, &c) + atomic_long_add_unless(&c, 1, 5);
	sum += atomic_long_inc_not_zero(&c);
	sum += xchg(&word, 2) + cmpxchg(&word, 2, 3) + cmpxchg_relaxed(&word, 3, 4);
	sum += cmpxchg64(&wide, 1, 2) + try_cmpxchg(&word, &old, 5);
	refcount_set(&refs, 3);
	refcount_inc(&refs);
	refcount_add(2, &refs);
	refcount_dec(&refs);
	sum += refcount_read(&refs) + refcount_inc_not_zero(&refs) + refcount_sub_and_test(2, &refs);
	sum += refcount_dec_and_test(&refs) + kref_read(&kref);
	mb();
	rmb();
	wmb();
	smp_mb();
	smp_rmb();
	smp_wmb();
	dma_rmb();
	dma_wmb();
	dma_mb();
	read_barrier_depends();
	smp_read_barrier_depends();
	smp_mb__before_atomic();
	smp_mb__after_atomic();
	smp_mb__after_spinlock();
	smp_store_mb(word, 5);
	set_mb(word, 6);
	smp_store_release(&word, 7);
	sum += smp_load_acquire(&word);
	prefetch(&word);
	prefetchw(&word);
	cpu_relax();
	rep_nop();
}

static DEFINE_SPINLOCK(spin);
static DEFINE_RAW_SPINLOCK(raw);
static DEFINE_RWLOCK(rw);
static DEFINE_MUTEX(mutex);
static DECLARE_RWSEM(rwsem);
static DEFINE_SEQLOCK(seq);
static DEFINE_SEMAPHORE(sem);
static DEFINE_SEMAPHORE(sem2, 2);
static DECLARE_MUTEX(old_mutex);
static DECLARE_MUTEX_LOCKED(old_locked);
static struct mutex mutex2 = __MUTEX_INITIALIZER(mutex2);
static struct rw_semaphore rwsem2 = __RWSEM_INITIALIZER(rwsem2);
static struct semaphore sem3 = __SEMAPHORE_INITIALIZER(sem3, 1);
static spinlock_t spin2 = __SPIN_LOCK_UNLOCKED(spin2);
static raw_spinlock_t raw2 = __RAW_SPIN_LOCK_UNLOCKED(raw2);
static rwlock_t rw2 = __RW_LOCK_UNLOCKED(rw2);
static seqlock_t seq2 = __SEQLOCK_UNLOCKED(seq2);
static seqcount_t count = SEQCNT_ZERO(count);

void locks(void)
{
	struct lock_class_key key;
	struct lockdep_map map;
	unsigned long flags;
	unsigned int start;

	spin_lock_init(&spin);
	raw_spin_lock_init(&raw);
	rwlock_init(&rw);
	spin_lock(&spin);
	assert_spin_locked(&spin);
	lockdep_assert_held(&spin);
	lockdep_assert_held_once(&spin);
	sum += spin_is_locked(&spin) + spin_is_contended(&spin) + lockdep_is_held(&spin) + in_atomic();
	spin_unlock(&spin);
	spin_unlock_wait(&spin);
	spin_lock_nested(&spin2, SINGLE_DEPTH_NESTING);
	spin_unlock(&spin2);
	spin_lock_bh(&spin);
	spin_unlock_bh(&spin);
	spin_lock_irq(&spin);
	spin_unlock_irq(&spin);
	spin_lock_irqsave(&spin, flags);
	spin_unlock_irqrestore(&spin, flags);
	spin_lock_irqsave_nested(&spin, flags, 1);
	spin_unlock_irqrestore(&spin, flags);
	if (spin_trylock(&spin))
		spin_unlock(&spin);
	if (spin_trylock_bh(&spin))
		spin_unlock_bh(&spin);
	if (spin_trylock_irqsave(&spin, flags))
		spin_unlock_irqrestore(&spin, flags);
	raw_spin_lock(&raw);
	sum += raw_spin_is_locked(&raw);
	raw_spin_unlock(&raw);
	raw_spin_lock_bh(&raw2);
	raw_spin_unlock_bh(&raw2);
	raw_spin_lock_irq(&raw);
	raw_spin_unlock_irq(&raw);
	raw_spin_lock_irqsave(&raw, flags);
	raw_spin_unlock_irqrestore(&raw, flags);
	if (raw_spin_trylock(&raw))
		raw_spin_unlock(&raw);
	read_lock(&rw);
	read_unlock(&rw);
	read_lock_bh(&rw);
	read_unlock_bh(&rw);
	read_lock_irq(&rw);
	read_unlock_irq(&rw);
	read_lock_irqsave(&rw, flags);
	read_unlock_irqrestore(&rw, flags);
	write_lock(&rw2);
	write_unlock(&rw2);
	write_lock_bh(&rw);
	write_unlock_bh(&rw);
	write_lock_irq(&rw);
	write_unlock_irq(&rw);
	write_lock_irqsave(&rw, flags);
	write_unlock_irqrestore(&rw, flags);
	mutex_init(&mutex);
	mutex_lock_nested(&mutex, 1);
	sum += mutex_is_locked(&mutex);
	mutex_unlock(&mutex);
	mutex_destroy(&mutex2);
	init_rwsem(&rwsem);
	sum += down_read_killable(&rwsem);
	up_read(&rwsem);
	sum += down_write_killable(&rwsem2);
	up_write(&rwsem2);
	sema_init(&sem, 1);
	init_MUTEX(&old_mutex);
	init_MUTEX_LOCKED(&old_locked);
	sum += down_trylock(&sem) + down_trylock(&sem2) + down_trylock(&sem3);
	seqlock_init(&seq);
	seqcount_init(&count);
	do
		start = read_seqbegin(&seq);
	while (read_seqretry(&seq, start));
	write_seqlock(&seq2);
	write_sequnlock(&seq2);
	write_seqlock_irqsave(&seq, flags);
	write_sequnlock_irqrestore(&seq, flags);
	lockdep_set_class(&spin, &key);
	lockdep_init_map(&map, "map", &key, 0);
	sum += lock_is_held(&map);
	preempt_disable();
	sum += preempt_count() + preemptible();
	preempt_enable();
	preempt_disable();
	preempt_enable_no_resched();
	preempt_disable_notrace();
	preempt_enable_notrace();
	migrate_disable();
	migrate_enable();
	sum += in_interrupt() + in_irq() + in_hardirq() + in_softirq() + in_serving_softirq() + in_nmi();
	sum += hardirq_count() + softirq_count() + irq_count();
	sum += in_task() + irqs_disabled();
	local_irq_save(flags);
	local_irq_restore(flags);
	local_irq_disable();
	local_irq_enable();
	local_save_flags(flags);
	save_flags(flags);
	cli();
	sti();
	restore_flags(flags);
	local_bh_disable();
	local_bh_enable();
}

static DECLARE_WAIT_QUEUE_HEAD(queue);
static wait_queue_head_t queue2 = __WAIT_QUEUE_HEAD_INITIALIZER(queue2);
static DECLARE_COMPLETION(done);
static struct completion done2 = COMPLETION_INITIALIZER(done2);

void waits(void)
{
	DECLARE_WAIT_QUEUE_HEAD_ONSTACK(own);
	DECLARE_COMPLETION_ONSTACK(own_done);
	DECLARE_WAITQUEUE(entry, current);
	DEFINE_WAIT(other);

	add_wait_queue(&own, &entry);
	remove_wait_queue(&own, &entry);
	prepare_to_wait(&own, &other, TASK_INTERRUPTIBLE);
	finish_wait(&own, &other);
	wait_event(queue, true);
	sum += wait_event_interruptible(queue, true) + wait_event_killable(queue, true);
	sum += wait_event_timeout(queue, true, HZ) + wait_event_timeout(queue, false, 1);
	sum += wait_event_interruptible_timeout(queue, true, HZ);
	sum += wait_event_interruptible_exclusive(queue, true);
	wake_up(&queue2);
	wake_up_nr(&queue2, 2);
	wake_up_all(&queue2);
	wake_up_sync(&queue2);
	wake_up_interruptible(&queue2);
	wake_up_interruptible_nr(&queue2, 2);
	wake_up_interruptible_all(&queue2);
	wake_up_interruptible_sync(&queue2);
	wake_up_poll(&queue2, EPOLLIN | EPOLLRDNORM);
	wake_up_interruptible_poll(&queue2, EPOLLIN);
	wake_up_interruptible_sync_poll(&queue2, key_to_poll(poll_to_key(EPOLLOUT)));
	complete(&own_done);
	INIT_COMPLETION(own_done);
	sum += completion_done(&done) + completion_done(&done2);
	ndelay(1);
	udelay(1);
	mdelay(1);
	fsleep(1);
	ssleep(0);
	usleep_range_state(1, 2, TASK_IDLE);
}

static int thread(void *data)
{
	if (data)
		kthread_exit(1);
	kthread_complete_and_exit(&done, 0);
	return 0;
}

void tasks(void)
{
	struct task_struct *task = kthread_create(thread, NULL, "thread"), *each, *all;
	struct sched_param param = { 0 };
	char comm[TASK_COMM_LEN];

	wake_up_process(task);
	wait_for_completion(&done);
	task = kthread_run(thread, &sum, "thread/%d", 2);
	kthread_stop(task);
	for_each_process(each)
		sum += each == get_current();
	for_each_process_thread(each, all)
		sum++;
	sum += next_task(current) != NULL;
	get_task_struct(task);
	put_task_struct(task);
	get_task_comm(comm, task);
	sum += task_pid_nr(task) + task_tgid_nr(task) + task_pid_vnr(task) + task_ppid_nr(task);
	sum += task_cpu(task) + task_nice(task) + task_is_running(current) + task_uid(task).val;
	set_user_nice(task, 0);
	sum += sched_setscheduler(task, SCHED_FIFO, &param) + set_cpus_allowed_ptr(task, NULL);
	sched_set_fifo(task);
	set_current_state(TASK_RUNNING);
	__set_current_state(TASK_RUNNING);
	set_task_state(current, TASK_RUNNING);
	sum += get_current_state() + cond_resched() + cond_resched_lock(&spin) + need_resched();
	sum += signal_pending(current) + fatal_signal_pending(current);
	sum += signal_pending_state(TASK_INTERRUPTIBLE, current) + local_clock();
	flush_signals(current);
	allow_signal(SIGKILL);
	disallow_signal(SIGKILL);
	sum += capable(0) + current_uid().val + current_euid().val + current_gid().val;
	sum += from_kuid(NULL, current_uid()) + __kuid_val(current_uid()) + (current_cred() != NULL);
	sum += init_utsname()->sysname[0];
}

static void on_timer(struct timer_list *timer) {}
static void __maybe_unused on_old_timer(unsigned long data) {}
static void on_tasklet(struct tasklet_struct *t) {}
static void on_old_tasklet(unsigned long data) {}
static void on_work(struct work_struct *work) {}
static void __maybe_unused on_old_work(void *data) {}
static enum hrtimer_restart on_hrtimer(struct hrtimer *timer) { return HRTIMER_NORESTART; }

static DEFINE_TIMER(timer, on_timer);
#if LINUX_VERSION_CODE < KERNEL_VERSION(4, 15, 0)
static DEFINE_TIMER(old_timer, on_old_timer, 0, 5);
static struct timer_list old_timer2 = TIMER_INITIALIZER(on_old_timer, 0, 5);
#endif
static DECLARE_TASKLET(tasklet, on_tasklet);
static DECLARE_TASKLET(old_tasklet, on_old_tasklet, 5);
static DECLARE_TASKLET_OLD(old_tasklet2, on_old_tasklet);
static DECLARE_WORK(work, on_work);
#if LINUX_VERSION_CODE < KERNEL_VERSION(2, 6, 20)
static DECLARE_WORK(old_work, on_old_work, NULL);
#endif
static DECLARE_DELAYED_WORK(delayed, on_work);

void timers(void)
{
	struct timer_list own;
	struct hrtimer precise;
	struct work_struct own_work;
	struct delayed_work own_delayed;
	struct workqueue_struct *own_queue = create_workqueue("own");
	struct tasklet_struct own_tasklet;
	struct outer { struct timer_list timer; struct tasklet_struct tasklet; } outer, *around;

	timer_setup(&own, on_timer, 0);
	timer_setup_on_stack(&own, on_timer, 0);
	destroy_timer_on_stack(&own);
#if LINUX_VERSION_CODE < KERNEL_VERSION(4, 15, 0)
	setup_timer(&own, on_old_timer, 5);
	sum += mod_timer_pending(&old_timer, jiffies) + timer_delete_sync(&old_timer2);
#endif
	init_timer_deferrable(&own);
	around = from_timer(around, &outer.timer, timer);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
	around = timer_container_of(around, &outer.timer, timer);
#endif
	around = from_tasklet(around, &outer.tasklet, tasklet);
	sum += timer_pending(&timer) + mod_timer_pending(&timer, jiffies);
	sum += timer_delete(&timer) + timer_delete_sync(&timer) + timer_shutdown_sync(&timer);
	sum += round_jiffies(5) + round_jiffies_relative(5);
	hrtimer_setup(&precise, on_hrtimer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	sum += hrtimer_active(&precise) + hrtimer_try_to_cancel(&precise);
	tasklet_init(&own_tasklet, on_old_tasklet, 5);
	tasklet_setup(&own_tasklet, on_tasklet);
	tasklet_disable(&own_tasklet);
	tasklet_enable(&own_tasklet);
	tasklet_hi_schedule(&tasklet);
	tasklet_kill(&tasklet);
	tasklet_kill(&old_tasklet);
	tasklet_kill(&old_tasklet2);
	INIT_WORK(&own_work, on_work);
#if LINUX_VERSION_CODE < KERNEL_VERSION(2, 6, 20)
	INIT_WORK(&own_work, on_old_work, NULL);
	sum += schedule_work_on(0, &old_work);
#endif
	INIT_WORK_ONSTACK(&own_work, on_work);
	INIT_DELAYED_WORK(&own_delayed, on_work);
	PREPARE_WORK(&own_work, on_work);
	sum += to_delayed_work(&own_delayed.work) == &own_delayed;
	sum += schedule_work(&work) + schedule_work_on(0, &work) + work_pending(&own_work);
	sum += schedule_delayed_work(&delayed, 0) + delayed_work_pending(&own_delayed);
	sum += queue_work_on(0, own_queue, &own_work) + flush_delayed_work(&delayed);
	drain_workqueue(own_queue);
	destroy_workqueue(own_queue);
	destroy_workqueue(create_singlethread_workqueue("single"));
	destroy_workqueue(alloc_ordered_workqueue("ordered/%d", 0, 5));
	flush_scheduled_work();
}

void times(void)
{
	struct timespec64 ts64;
	struct timespec ts;
	struct timeval tv;
	struct tm tm;
	ktime_t time = ktime_get();
	unsigned int low, high;
	u64 cycles;

	sum += time_after(jiffies, 5UL) + time_before(jiffies, 5UL) + time_after_eq(jiffies, 5UL);
	sum += time_before_eq(jiffies, 5UL) + time_in_range(jiffies, 5UL, 6UL);
	sum += time_after64(get_jiffies_64(), 5ULL) + time_before64(get_jiffies_64(), 5ULL);
	sum += time_is_before_jiffies(5UL) + time_is_after_jiffies(5UL);
	sum += jiffies_to_clock_t(250) + jiffies_64_to_clock_t(250);
	sum += ktime_after(time, time) + ktime_before(time, time) + ktime_equal(time, time);
	time = ktime_add_ms(ktime_add_us(ktime_sub_ns(time, 5), 5), 5);
	sum += ktime_get_boot_ns() + ktime_get_boottime_ns() + ktime_get_raw_ns() + ktime_get_mono_fast_ns();
	time = ktime_get_boottime();
	time = ktime_get_coarse();
	time = ktime_get_raw();
	ts = ktime_to_timespec(time);
	ts64 = ktime_to_timespec64(time);
	tv = ktime_to_timeval(time);
	time = timespec_to_ktime(ts);
	ktime_get_raw_ts64(&ts64);
	ktime_get_boottime_ts64(&ts64);
	ktime_get_coarse_real_ts64(&ts64);
	getnstimeofday64(&ts64);
	getrawmonotonic64(&ts64);
	ktime_get_real_ts(&ts);
	do_posix_clock_monotonic_gettime(&ts);
	sum += ktime_get_real_seconds() + ktime_get_seconds() + tv.tv_sec + time;
	time_to_tm(0, 0, &tm);
	rdtsc(low, high);
	rdtscl(low);
	rdtscll(cycles);
	sum += rdtsc() + native_read_tsc() + __native_read_tsc() + native_read_tscp(&low) + high + cycles;
	rdtsc_barrier();
	sum += random_get_entropy() + get_random_int() + get_random_long() + get_random_u8();
	sum += get_random_u16() + get_random_u32_inclusive(5, 6) + wait_for_random_bytes();
	sum += prandom_u32() + prandom_u32_max(5) + random32() + net_random();
	prandom_seed(5);
	srandom32(5);
	prandom_bytes(&low, sizeof(low));
}

static int __init every_init(void)
{
	atomics();
	locks();
	waits();
	tasks();
	timers();
	times();
	return 0;
}

static void __exit every_exit(void)
{
}
module_init(every_init);
module_exit(every_exit);
MODULE_LICENSE("GPL");
