/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A plain program with libc's headers, and threads as a driver has them: readers that load, iterate and search while writers replace and erase objects,
 * which are handed to call_rcu(); ids taken and given back by several at once; and rcu_barrier(), which waits
 * until a callback has returned, not only begun.
 */
#include <linux/idr.h>
#include <linux/xarray.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "check.h"

#define INDICES 3000
#define ROUNDS 60
#define IDS 100
#define CALLS 1000
#define ALIVE 0x600d
#define DEAD 0xdead

struct object {
	unsigned long index;
	unsigned long state;
	struct rcu_head rcu;
};

static DEFINE_XARRAY(objects);
static DEFINE_XARRAY_ALLOC1(ids);
static DEFINE_IDA(numbers);
static DEFINE_IDR(owners);
static int stop;
static long freed;

static void free_object(struct rcu_head *head)
{
	struct object *object = container_of(head, struct object, rcu);

	__atomic_store_n(&object->state, DEAD, __ATOMIC_RELAXED);
	__atomic_fetch_add(&freed, 1, __ATOMIC_RELAXED);
	free(object);
}

static unsigned long spread(unsigned long i)
{
	return i % 3 ? i : i << 30;
}

static void look_at(struct object *object, unsigned long index)
{
	CHECK(!object || (object->index == index && __atomic_load_n(&object->state, __ATOMIC_RELAXED) == ALIVE));
}

static void *read_all(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		XA_STATE(xas, &objects, 0);
		struct object *object;
		unsigned long i, last = 0;

		for (i = 0; i < INDICES; i++) {
			rcu_read_lock();
			look_at(xa_load(&objects, spread(i)), spread(i));
			rcu_read_unlock();
		}
		rcu_read_lock();
		xa_for_each(&objects, i, object) {
			CHECK(i >= last);
			last = i;
			look_at(object, i);
		}
		xas_for_each_marked(&xas, object, ULONG_MAX, XA_MARK_1) {
			if (xas_retry(&xas, object))
				continue;
			look_at(object, xas.xa_index);
			xas_pause(&xas);
			rcu_read_unlock();
			rcu_read_lock();
		}
		rcu_read_unlock();
	}
	return NULL;
}

static void *write_all(void *arg)
{
	unsigned long round, i, first = (unsigned long)arg;

	for (round = 0; round < ROUNDS; round++) {
		for (i = first; i < INDICES; i += 2) {
			struct object *object = malloc(sizeof(*object)), *old;

			object->index = spread(i);
			object->state = ALIVE;
			old = xa_store(&objects, spread(i), object, GFP_KERNEL);
			CHECK(!xa_is_err(old));
			if (i % 5 == 0)
				xa_set_mark(&objects, spread(i), XA_MARK_1);
			if (old)
				call_rcu(&old->rcu, free_object);
		}
		for (i = first; i < INDICES; i += 2) {
			struct object *old = xa_erase(&objects, spread(i));

			if (!old) {
				CHECK(!"nobody else erases it");
				continue;
			}
			call_rcu(&old->rcu, free_object);
		}
	}
	return NULL;
}

static void *take_ids(void *arg)
{
	u32 mine[IDS], next = 0, round, i;

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < IDS; i++) {
			if (round % 2)
				CHECK(xa_alloc(&ids, &mine[i], arg, xa_limit_16b, GFP_KERNEL) == 0);
			else
				CHECK(xa_alloc_cyclic(&ids, &mine[i], arg, xa_limit_16b, &next, GFP_KERNEL) >= 0);
			CHECK(mine[i] != 0);
			CHECK(ida_alloc(&numbers, GFP_KERNEL) >= 0);
		}
		for (i = 0; i < IDS; i++)
			CHECK(xa_erase(&ids, mine[i]) == arg);
		idr_lock(&owners);
		CHECK(idr_alloc(&owners, arg, 0, 0, GFP_NOWAIT) >= 0);
		idr_unlock(&owners);
	}
	return NULL;
}

static int has_begun, has_returned;

static void call_slowly(struct rcu_head *head)
{
	__atomic_store_n(&has_begun, 1, __ATOMIC_RELEASE);
	usleep(50000);
	__atomic_store_n(&has_returned, 1, __ATOMIC_RELEASE);
}

static void call_nothing(struct rcu_head *head)
{
}

/* Defers calls until one of the first batch is being made. */
static void *defer_many(void *arg)
{
	static struct rcu_head heads[CALLS];
	int i;

	call_rcu(&heads[0], call_slowly);
	for (i = 1; i < CALLS && !__atomic_load_n(&has_returned, __ATOMIC_ACQUIRE); i++)
		call_rcu(&heads[i], call_nothing);
	return NULL;
}

static void check_barrier(void)
{
	pthread_t thread;

	/* This thread is known as a reader, so that the other one may not call at once. */
	rcu_read_lock();
	rcu_read_unlock();
	CHECK(pthread_create(&thread, NULL, defer_many, NULL) == 0);
	while (!__atomic_load_n(&has_begun, __ATOMIC_ACQUIRE))
		usleep(100);
	rcu_barrier();
	CHECK(__atomic_load_n(&has_returned, __ATOMIC_ACQUIRE));
	CHECK(pthread_join(thread, NULL) == 0);
	rcu_barrier();
}

int main(void)
{
	static int names[2];
	pthread_t readers[2], writers[2], takers[2];
	unsigned long i;

	for (i = 0; i < 2; i++) {
		CHECK(pthread_create(&readers[i], NULL, read_all, NULL) == 0);
		CHECK(pthread_create(&writers[i], NULL, write_all, (void *)i) == 0);
		CHECK(pthread_create(&takers[i], NULL, take_ids, &names[i]) == 0);
	}
	for (i = 0; i < 2; i++) {
		CHECK(pthread_join(writers[i], NULL) == 0);
		CHECK(pthread_join(takers[i], NULL) == 0);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < 2; i++)
		CHECK(pthread_join(readers[i], NULL) == 0);
	rcu_barrier();
	CHECK(freed == ROUNDS * INDICES);
	CHECK(xa_empty(&objects) && slablab_xa_bytes(&objects) == 0);
	CHECK(xa_empty(&ids));
	CHECK(ida_alloc(&numbers, GFP_KERNEL) == 2 * ROUNDS * IDS);
	CHECK(idr_alloc(&owners, names, 0, 0, GFP_KERNEL) == 2 * ROUNDS);
	ida_destroy(&numbers);
	idr_destroy(&owners);
	check_barrier();
	printf("threads: %s\n", failed ? "FAILED" : "nothing misled, every object freed once");
	return failed != 0;
}
