/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Hash tables of fixed size: arrays of hlist heads. */
#ifndef _LINUX_HASHTABLE_H
#define _LINUX_HASHTABLE_H

#include <linux/array_size.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/rculist.h>

#define DEFINE_HASHTABLE(name, bits) \
	struct hlist_head name[1 << (bits)] = { [0 ... ((1 << (bits)) - 1)] = HLIST_HEAD_INIT }
#define DEFINE_READ_MOSTLY_HASHTABLE(name, bits) DEFINE_HASHTABLE(name, bits)
#define DECLARE_HASHTABLE(name, bits) struct hlist_head name[1 << (bits)]
#define HASH_SIZE(name) (ARRAY_SIZE(name))
#define HASH_BITS(name) ilog2(HASH_SIZE(name))
#define hash_min(value, bits) (sizeof(value) <= 4 ? hash_32((u32)(value), bits) : hash_long(value, bits))

static inline void __hash_init(struct hlist_head *table, unsigned int size)
{
	unsigned int i;

	for (i = 0; i < size; i++)
		INIT_HLIST_HEAD(&table[i]);
}

static inline bool __hash_empty(struct hlist_head *table, unsigned int size)
{
	unsigned int i;

	for (i = 0; i < size; i++)
		if (!hlist_empty(&table[i]))
			return false;
	return true;
}
#define hash_init(table) __hash_init(table, HASH_SIZE(table))
#define hash_empty(table) __hash_empty(table, HASH_SIZE(table))
#define hash_add(table, node, key) hlist_add_head(node, &table[hash_min(key, HASH_BITS(table))])
#define hash_add_rcu(table, node, key) hlist_add_head_rcu(node, &table[hash_min(key, HASH_BITS(table))])
#define hash_hashed(node) (!hlist_unhashed(node))
#define hash_del(node) hlist_del_init(node)
#define hash_del_rcu(node) hlist_del_init_rcu(node)

/* The forms before 3.9 have a node cursor between bucket (or table) and object. */
#define hash_for_each(...) KAPI_BY_COUNT(__kapi_hash_each_, __VA_ARGS__)
#define __kapi_hash_each_4(name, bkt, obj, member) \
	for ((bkt) = 0, obj = NULL; obj == NULL && (bkt) < HASH_SIZE(name); (bkt)++) \
		__kapi_hlist_each_3(obj, &name[bkt], member)
#define __kapi_hash_each_5(name, bkt, node, obj, member) \
	for ((bkt) = 0, node = NULL; node == NULL && (bkt) < HASH_SIZE(name); (bkt)++) \
		__kapi_hlist_each_4(obj, node, &name[bkt], member)
#define hash_for_each_rcu(name, bkt, obj, member) \
	for ((bkt) = 0, obj = NULL; obj == NULL && (bkt) < HASH_SIZE(name); (bkt)++) \
		__kapi_hlist_each_rcu_3(obj, &name[bkt], member)
#define hash_for_each_safe(...) KAPI_BY_COUNT(__kapi_hash_each_safe_, __VA_ARGS__)
#define __kapi_hash_each_safe_5(name, bkt, tmp, obj, member) \
	for ((bkt) = 0, obj = NULL; obj == NULL && (bkt) < HASH_SIZE(name); (bkt)++) \
		__kapi_hlist_each_safe_4(obj, tmp, &name[bkt], member)
#define __kapi_hash_each_safe_6(name, bkt, node, tmp, obj, member) \
	for ((bkt) = 0, node = NULL; node == NULL && (bkt) < HASH_SIZE(name); (bkt)++) \
		__kapi_hlist_each_safe_5(obj, node, tmp, &name[bkt], member)
#define hash_for_each_possible(...) KAPI_BY_COUNT(__kapi_hash_possible_, __VA_ARGS__)
#define __kapi_hash_possible_4(name, obj, member, key) \
	__kapi_hlist_each_3(obj, &name[hash_min(key, HASH_BITS(name))], member)
#define __kapi_hash_possible_5(name, obj, node, member, key) \
	__kapi_hlist_each_4(obj, node, &name[hash_min(key, HASH_BITS(name))], member)
#define hash_for_each_possible_rcu(name, obj, member, key) \
	__kapi_hlist_each_rcu_3(obj, &name[hash_min(key, HASH_BITS(name))], member)
#define hash_for_each_possible_safe(...) KAPI_BY_COUNT(__kapi_hash_possible_safe_, __VA_ARGS__)
#define __kapi_hash_possible_safe_5(name, obj, tmp, member, key) \
	__kapi_hlist_each_safe_4(obj, tmp, &name[hash_min(key, HASH_BITS(name))], member)
#define __kapi_hash_possible_safe_6(name, obj, node, tmp, member, key) \
	__kapi_hlist_each_safe_5(obj, node, tmp, &name[hash_min(key, HASH_BITS(name))], member)

#endif
