// SPDX-License-Identifier: MIT OR Apache-2.0
// A host for the maple tree's files alone, in a process with threads: nodes from malloc(), locks that spin, and grace
// periods by counters of the threads. Freed nodes are overwritten, so that who still reads one is found.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define THREADS_MAX 8192
#define LATER_MAX 64
#define NODE_BYTES 256

/* Odd while the thread reads. */
static _Atomic unsigned long sections[THREADS_MAX];
static _Atomic int threads;
static _Thread_local int self = -1, depth;
_Atomic long host_nodes, host_allocs;

/* Allocations that must not wait: how many succeed; and what happens before the next one that may, after one has failed. */
static _Atomic int non_kernel = 1 << 30;
static void (*callback)(void *);
static bool calls_back;
void *host_private;
#define DIRECT_RECLAIM 0x400u

const char kapi_runtime_begin[1], kapi_runtime_end[1];

void kapi_atomic_enter(void) { }
void kapi_atomic_exit(void) { }
unsigned long kapi_irq_save(void) { return 0; }
void kapi_irq_restore(unsigned long flags) { }
void kapi_may_sleep(const char *name, unsigned long site) { }
void kapi_spin_wait(void) { sched_yield(); }
void kapi_lock_enter(const void *lock) { }
void kapi_lock_got(const void *lock) { }
void kapi_lock_exit(const void *lock) { }

void kapi_warn(const char *file, int line, ...)
{
	fprintf(stderr, "WARNING: %s:%d\n", file, line);
	abort();
}

void kapi_bug(const char *file, int line, ...)
{
	fprintf(stderr, "BUG: %s:%d\n", file, line);
	abort();
}

/* One thread alone uses them. */
void down_write(void *sem) { }
void kapi_down_write(void *sem, unsigned int how) { }
void up_write(void *sem) { }

int printk(const char *form, ...)
{
	va_list args;
	int length;

	va_start(args, form);
	length = vprintf(form, args);
	va_end(args);
	return length;
}

void kapi_rcu_read_lock(void)
{
	if (self < 0)
		self = atomic_fetch_add(&threads, 1);
	if (!depth++)
		atomic_fetch_add(&sections[self], 1);
}

void kapi_rcu_read_unlock(void)
{
	if (!--depth)
		atomic_fetch_add(&sections[self], 1);
}

/* Freed objects: those that wait for the readers of the moment when there were enough of them, and those that came since. */
struct batch {
	void **objects;
	size_t count, room;
};
static struct batch coming, waiting;
static unsigned long seen[THREADS_MAX];
static int seen_count;

/* Whether the readers that were there have all left; waits for them if asked. */
static bool passed(bool waits)
{
	int i;

	for (i = 0; i < seen_count; i++) {
		while (i != self && (seen[i] & 1) && atomic_load(&sections[i]) == seen[i]) {
			if (!waits)
				return false;
			sched_yield();
		}
	}
	return true;
}

void *kapi_cache_create(const char *name, unsigned int size, unsigned int align)
{
	return &coming;
}

void host_set_non_kernel(int count) { non_kernel = count; }

void host_set_callback(void (*function)(void *), void *private) { callback = function; }

void *kmem_cache_alloc(void *cache, unsigned int gfp)
{
	if (!(gfp & DIRECT_RECLAIM)) {
		if (atomic_load(&non_kernel) <= 0) {
			calls_back = callback != NULL;
			return NULL;
		}
		atomic_fetch_sub(&non_kernel, 1);
	} else if (calls_back) {
		calls_back = false;
		callback(host_private);
	}
	atomic_fetch_add_explicit(&host_nodes, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&host_allocs, 1, memory_order_relaxed);
	return aligned_alloc(NODE_BYTES, NODE_BYTES);
}

void kmem_cache_free(void *cache, void *object)
{
	atomic_fetch_sub_explicit(&host_nodes, 1, memory_order_relaxed);
#ifndef HOST_IS_FAST
	memset(object, 0x6b, NODE_BYTES);
#endif
	free(object);
}

int kmem_cache_shrink(void *cache) { return 0; }

static void turn(void)
{
	struct batch empty = waiting;
	int i;

	while (waiting.count)
		kmem_cache_free(NULL, waiting.objects[--waiting.count]);
	empty.count = 0;
	waiting = coming;
	coming = empty;
	seen_count = atomic_load(&threads);
	for (i = 0; i < seen_count; i++)
		seen[i] = atomic_load(&sections[i]);
}

/* Waits for all: with the tree's lock, or alone. */
void host_free_later(void)
{
	passed(true);
	turn();
	passed(true);
	turn();
}

/* Under the tree's lock. Never waits: a reader may stay in its section as long as it likes. */
void kapi_cache_free_rcu(void *cache, void *object)
{
	if (coming.count == coming.room) {
		coming.room = coming.room ? 2 * coming.room : LATER_MAX;
		coming.objects = realloc(coming.objects, coming.room * sizeof(void *));
	}
	coming.objects[coming.count++] = object;
	if (coming.count >= LATER_MAX && passed(false))
		turn();
}

void host_start(unsigned long *thread, void *(*run)(void *), void *arg)
{
	pthread_create((pthread_t *)thread, NULL, run, arg);
}

void host_join(unsigned long thread) { pthread_join((pthread_t)thread, NULL); }

unsigned long host_ns(void)
{
	struct timespec now;

	/* The thread's own: other processes' turns are not in it. */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000UL + now.tv_nsec;
}

extern int tree_main(int argc, char **argv);

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	return tree_main(argc, argv);
}
