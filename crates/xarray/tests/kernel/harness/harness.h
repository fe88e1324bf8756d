/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the programs of tools/testing/radix-tree take from the C library and from their own harness, beside
 * our include/linux. (The C library's headers and ours both define the basic types, so no program has both.)
 *
 * Time runs ten times as fast, since some tests last as long as time() says.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <linux/bitmap.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/xarray.h>

typedef unsigned long pthread_t;
typedef union { char bytes[40]; long align; } pthread_mutex_t;
typedef union { char bytes[32]; long align; } pthread_barrier_t;

int pthread_create(pthread_t *thread, const void *attributes, void *(*function)(void *), void *arg);
int pthread_join(pthread_t thread, void **result);
int pthread_mutex_init(pthread_mutex_t *mutex, const void *attributes);
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_unlock(pthread_mutex_t *mutex);
int pthread_mutex_destroy(pthread_mutex_t *mutex);
int pthread_barrier_init(pthread_barrier_t *barrier, const void *attributes, unsigned int count);
int pthread_barrier_wait(pthread_barrier_t *barrier);
#define PTHREAD_BARRIER_SERIAL_THREAD (-1)

void *malloc(size_t size);
void free(void *memory);
int rand(void);
int rand_r(unsigned int *seed);
void srand(unsigned int seed);
void abort(void) __attribute__((__noreturn__));
void exit(int status) __attribute__((__noreturn__));
int printf(const char *fmt, ...);
int fflush(void *stream);
int putchar(int character);
unsigned long strtoul(const char *text, char **end, int base);
extern void *stdout;
extern char *optarg;
void perror(const char *text);
int getopt(int argc, char *const *argv, const char *options);
unsigned int sleep(unsigned int seconds);
long sysconf(int name);
#define _SC_NPROCESSORS_ONLN 84

time_t harness_time(void);
#define time(result) harness_time()
void harness_assert(const char *file, int line, const char *what) __attribute__((__noreturn__));
#define assert(x) ((x) ? (void)0 : harness_assert(__FILE__, __LINE__, #x))

#undef preempt_count
extern int test_verbose, nr_allocated, preempt_count;
#define printv(level, fmt, ...)						\
	do {								\
		if (test_verbose >= (level))				\
			printf(fmt, ##__VA_ARGS__);			\
	} while (0)
#define rcu_register_thread() do { } while (0)
#define rcu_unregister_thread() do { } while (0)

/* Linux's node, for functions that are compiled and never called. */
#define RADIX_TREE_TAG_LONGS 1
struct radix_tree_node {
	unsigned char shift;
	void *slots[64];
	unsigned long tags[3][RADIX_TREE_TAG_LONGS];
};

#endif
