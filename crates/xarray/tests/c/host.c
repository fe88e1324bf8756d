/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What include/linux leans on, for programs of our array alone: the log on standard output, and the
 * array's own read-copy-update. (The module host in crates/kapi has the full set.)
 */
#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>

int vprintf(const char *fmt, va_list args);
int sched_yield(void);
void abort(void) __noreturn;

void slablab_rcu_read_lock(void);
void slablab_rcu_read_unlock(void);
void slablab_synchronize_rcu(void);
void slablab_call_rcu(struct rcu_head *head, rcu_callback_t func);
void slablab_rcu_barrier(void);

int printk(const char *fmt, ...)
{
	va_list args;
	int written;

	va_start(args, fmt);
	/* A level is a prefix of two characters. */
	written = vprintf(fmt[0] == '\001' ? fmt + 2 : fmt, args);
	va_end(args);
	return written;
}

void dump_stack(void)
{
}

void kapi_bug(const char *file, int line)
{
	printk("BUG at %s:%d\n", file, line);
	abort();
}

void kapi_warn(const char *file, int line, const char *function, const char *fmt, ...)
{
	printk("WARNING: at %s:%d %s() %s\n", file, line, function, fmt ? fmt : "");
}

void kapi_atomic_enter(void)
{
}

void kapi_atomic_exit(void)
{
}

/* Nobody counts which locks are held, nor what sleeps. */
void kapi_lock_enter(const volatile void *lock, unsigned int how)
{
}

void kapi_lock_got(const volatile void *lock)
{
}

void kapi_lock_exit(const volatile void *lock)
{
}

void kapi_lock_class(const volatile void *lock, const void *key, const char *name, unsigned int subclass)
{
}

#ifdef __KERNEL__
void kapi_might_alloc(const char *name, gfp_t gfp)
{
}
#endif

/* Interrupts and bottom halves are off in name only. */
unsigned long kapi_irq_save(void)
{
	return 0;
}

void kapi_irq_restore(unsigned long flags)
{
}

void kapi_bh_disable(void)
{
}

void kapi_bh_enable(void)
{
}

void kapi_spin_wait(const volatile unsigned int *word)
{
	while (*word)
		sched_yield();
}

void kapi_rcu_read_lock(void)
{
	slablab_rcu_read_lock();
}

void kapi_rcu_read_unlock(void)
{
	slablab_rcu_read_unlock();
}

void synchronize_rcu(void)
{
	slablab_synchronize_rcu();
}

void call_rcu(struct rcu_head *head, rcu_callback_t func)
{
	slablab_call_rcu(head, func);
}

void rcu_barrier(void)
{
	slablab_rcu_barrier();
}
