/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Branches that are hardly ever turned: a key that is counted up and down, and tests of it.
 *
 * A key is on while its count is above 0. The kernel writes the branch into its code; here a test reads the count, as
 * on a machine without jump labels.
 *
 * Linux counterpart: include/linux/jump_label.h @ 4.3, with the names of before.
 */
#ifndef _LINUX_JUMP_LABEL_H
#define _LINUX_JUMP_LABEL_H

#include <linux/atomic.h>
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/kconfig.h>

struct static_key {
	atomic_t enabled;
};
struct static_key_true {
	struct static_key key;
};
struct static_key_false {
	struct static_key key;
};

#define STATIC_KEY_INIT_TRUE { .enabled = ATOMIC_INIT(1) }
#define STATIC_KEY_INIT_FALSE { .enabled = ATOMIC_INIT(0) }
#define STATIC_KEY_INIT STATIC_KEY_INIT_FALSE
#define STATIC_KEY_TRUE_INIT (struct static_key_true){ .key = STATIC_KEY_INIT_TRUE }
#define STATIC_KEY_FALSE_INIT (struct static_key_false){ .key = STATIC_KEY_INIT_FALSE }
#define DEFINE_STATIC_KEY_TRUE(name) struct static_key_true name = { .key = STATIC_KEY_INIT_TRUE }
#define DEFINE_STATIC_KEY_FALSE(name) struct static_key_false name = { .key = STATIC_KEY_INIT_FALSE }
#define DEFINE_STATIC_KEY_TRUE_RO(name) DEFINE_STATIC_KEY_TRUE(name)
#define DEFINE_STATIC_KEY_FALSE_RO(name) DEFINE_STATIC_KEY_FALSE(name)
#define DECLARE_STATIC_KEY_TRUE(name) extern struct static_key_true name
#define DECLARE_STATIC_KEY_FALSE(name) extern struct static_key_false name
#define DEFINE_STATIC_KEY_ARRAY_TRUE(name, n) \
	struct static_key_true name[n] = { [0 ... (n) - 1] = { .key = STATIC_KEY_INIT_TRUE } }
#define DEFINE_STATIC_KEY_ARRAY_FALSE(name, n) \
	struct static_key_false name[n] = { [0 ... (n) - 1] = { .key = STATIC_KEY_INIT_FALSE } }
#define DEFINE_STATIC_KEY_MAYBE(option, name) \
	KAPI_JOIN(__kapi_define_key_, __KAPI_IS_VALUE(option))(name)
#define __kapi_define_key_1(name) DEFINE_STATIC_KEY_TRUE(name)
#define __kapi_define_key_0(name) DEFINE_STATIC_KEY_FALSE(name)
#define jump_label_enabled static_key_enabled

/* A key of any of the three types. */
#define __kapi_key(x) ((struct static_key *)(x))
static __always_inline int static_key_count(struct static_key *key) { return atomic_read(&key->enabled); }
#define static_key_enabled(x) (static_key_count(__kapi_key(x)) > 0)
static __always_inline bool static_key_true(struct static_key *key) { return likely(static_key_count(key) > 0); }
static __always_inline bool static_key_false(struct static_key *key) { return unlikely(static_key_count(key) > 0); }
#define static_branch_likely(x) likely(static_key_enabled(x))
#define static_branch_unlikely(x) unlikely(static_key_enabled(x))
#define static_branch_maybe(option, x) (IS_ENABLED(option) ? static_branch_likely(x) : static_branch_unlikely(x))

static __always_inline void static_key_slow_inc(struct static_key *key) { atomic_inc(&key->enabled); }

/* False if the key is counted so often that no more fits. */
static __always_inline bool static_key_fast_inc_not_disabled(struct static_key *key)
{
	int count = static_key_count(key);

	while (count > 0 && count < 0x7fffffff && !atomic_try_cmpxchg(&key->enabled, &count, count + 1))
		;
	return count > 0 && count < 0x7fffffff;
}

static __always_inline void static_key_slow_dec(struct static_key *key)
{
	WARN_ON_ONCE(atomic_dec_if_positive(&key->enabled) < 0);
}

/* Sets the count to 1 or 0: for keys that nobody counts. */
static __always_inline void static_key_enable(struct static_key *key) { atomic_cmpxchg(&key->enabled, 0, 1); }
static __always_inline void static_key_disable(struct static_key *key)
{
	WARN_ON_ONCE(atomic_xchg(&key->enabled, 0) > 1);
}
#define static_branch_inc(x) static_key_slow_inc(__kapi_key(x))
#define static_branch_dec(x) static_key_slow_dec(__kapi_key(x))
#define static_branch_enable(x) static_key_enable(__kapi_key(x))
#define static_branch_disable(x) static_key_disable(__kapi_key(x))
#define static_branch_inc_cpuslocked(x) static_branch_inc(x)
#define static_branch_dec_cpuslocked(x) static_branch_dec(x)
#define static_branch_enable_cpuslocked(x) static_branch_enable(x)
#define static_branch_disable_cpuslocked(x) static_branch_disable(x)

#endif
