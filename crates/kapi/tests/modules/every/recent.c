/* Every macro of what came with later kernels: keys, locks of CPUs, sets of intervals, tables, buffers, check sums. */
#include <kunit/static_stub.h>
#include <linux/bitmap.h>
#include <linux/crc32.h>
#include <linux/crc64.h>
#include <linux/interval_tree.h>
#include <linux/interval_tree_generic.h>
#include <linux/jump_label.h>
#include <linux/klist.h>
#include <linux/local_lock.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/prime_numbers.h>
#include <linux/ratelimit.h>
#include <linux/rbtree_augmented.h>
#include <linux/rculist_nulls.h>
#include <linux/rcupdate_wait.h>
#include <linux/rhashtable.h>
#include <linux/rwsem.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/u64_stats_sync.h>

#include "check.h"

DEFINE_STATIC_KEY_TRUE(on);
DEFINE_STATIC_KEY_FALSE(off);
DEFINE_STATIC_KEY_TRUE_RO(on_ro);
DEFINE_STATIC_KEY_FALSE_RO(off_ro);
DECLARE_STATIC_KEY_TRUE(on);
DECLARE_STATIC_KEY_FALSE(off);
DEFINE_STATIC_KEY_ARRAY_TRUE(many_on, 3);
DEFINE_STATIC_KEY_ARRAY_FALSE(many_off, 3);
DEFINE_STATIC_KEY_MAYBE(CONFIG_SMP, maybe);

static void keys(void)
{
	IS(static_branch_likely(&on), 1);
	IS(static_branch_unlikely(&off), 0);
	IS(static_branch_maybe(CONFIG_SMP, &maybe), 1);
	IS(static_key_enabled(&many_on[2]) + static_key_enabled(&many_off[2]), 1);
	IS(static_branch_likely(&on_ro) + static_branch_likely(&off_ro), 1);
	static_branch_inc(&off);
	static_branch_inc_cpuslocked(&off);
	IS(static_key_count(&off.key), 2);
	static_branch_dec(&off);
	IS(static_branch_unlikely(&off), 1);
	static_branch_dec_cpuslocked(&off);
	IS(static_branch_unlikely(&off), 0);
	static_branch_enable(&off);
	static_branch_enable_cpuslocked(&off);
	IS(static_key_count(&off.key), 1);
	static_branch_disable(&off);
	static_branch_disable_cpuslocked(&off);
	IS(static_key_count(&off.key), 0);
}

static DEFINE_PER_CPU(local_lock_t, local) = INIT_LOCAL_LOCK(local);
static DEFINE_PER_CPU(local_trylock_t, local_try) = INIT_LOCAL_TRYLOCK(local_try);
static DECLARE_RWSEM(sem);
static DEFINE_SPINLOCK(spin);
static DEFINE_RAW_SPINLOCK(raw);

static void locks(void)
{
	unsigned long flags;

	local_lock_init(this_cpu_ptr(&local));
	local_trylock_init(this_cpu_ptr(&local_try));
	local_lock(&local);
	IS(local_lock_is_locked(&local), 1);
	IS(local_trylock(&local), 0);
	local_unlock(&local);
	local_lock_irq(&local);
	IS(irqs_disabled(), 1);
	local_unlock_irq(&local);
	local_lock_irqsave(&local, flags);
	local_unlock_irqrestore(&local, flags);
	local_lock_nested_bh(&local);
	local_unlock_nested_bh(&local);
	IS(local_trylock_irqsave(&local_try, flags), 1);
	local_unlock_irqrestore(&local_try, flags);
	IS(down_read_interruptible(&sem), 0);
	IS(rwsem_is_locked(&sem), 1);
	up_read(&sem);
	IS(spin_trylock_irq(&spin), 1);
	IS(raw_spin_trylock_irq(&raw), 1);
	IS(raw_spin_trylock_irqsave(&raw, flags), 0);
	raw_spin_unlock_irq(&raw);
	spin_unlock_irq(&spin);
	IS(raw_spin_trylock_irqsave(&raw, flags), 1);
	raw_spin_unlock_irqrestore(&raw, flags);
	IS(irqs_disabled() + in_atomic(), 0);
	rcu_read_lock();
	cond_resched_rcu();
	rcu_read_unlock();
}

struct item {
	int value;
	struct hlist_nulls_node nulls;
	struct rb_node rb;
	unsigned long first, last, below;
	struct rhlist_head list;
};

static void chains(void)
{
	struct hlist_nulls_head chain = HLIST_NULLS_HEAD_INIT(3);
	struct item one = { .value = 1 }, two = { .value = 2 }, *item;
	struct hlist_nulls_node *pos;
	int sum = 0;

	INIT_HLIST_NULLS_HEAD(&chain, 5);
	IS((unsigned long)chain.first, NULLS_MARKER(5));
	hlist_nulls_add_head_rcu(&one.nulls, &chain);
	hlist_nulls_add_tail_rcu(&two.nulls, &chain);
	hlist_nulls_for_each_entry(item, pos, &chain, nulls)
		sum += item->value;
	IS(get_nulls_value(pos), 5);
	hlist_nulls_for_each_entry_rcu(item, pos, &chain, nulls)
		sum += item->value;
	hlist_nulls_for_each_entry_safe(item, pos, &chain, nulls)
		sum += item->value;
	pos = chain.first;
	hlist_nulls_for_each_entry_from(item, pos, nulls)
		sum += item->value;
	IS(sum, 12);
	IS(hlist_nulls_first_rcu(&chain), &one.nulls);
	IS(hlist_nulls_next_rcu(&one.nulls), hlist_nulls_pprev_rcu(&two.nulls));
	IS(hlist_nulls_entry(chain.first, struct item, nulls), &one);
	IS(hlist_nulls_entry_safe(two.nulls.next, struct item, nulls), (struct item *)NULL);
}

#define FIRST(item) ((item)->first)
#define LAST(item) ((item)->last)
INTERVAL_TREE_DEFINE(struct item, rb, unsigned long, below, FIRST, LAST, static, items)

static bool count_value(struct item *item, bool exit)
{
	return exit;
}
RB_DECLARE_CALLBACKS(static, counted, struct item, rb, value, count_value)
RB_DECLARE_CALLBACKS_MAX(static, largest, struct item, rb, unsigned long, below, LAST)

static int by_value(const void *key, const struct rb_node *node)
{
	return *(const int *)key - rb_entry(node, struct item, rb)->value;
}

static void bits(void)
{
	unsigned long map[2] = { 0xf00f, 0 };

	IS(bitmap_find_next_zero_area_off(map, 128, 0, 8, 3, 0), 4UL);
	IS(bitmap_find_next_zero_area_off(map, 128, 0, 9, 3, 0), 16UL);
	IS(bitmap_find_next_zero_area_off(map, 128, 0, 9, 3, 1), 19UL);
	IS(bitmap_find_next_zero_area_off(map, 128, 0, 200, 0, 0) > 128, true);
}

static void trees(void)
{
	struct rb_root_cached root = RB_ROOT_CACHED, tree = RB_ROOT_CACHED;
	struct item a = { .value = 1, .first = 5, .last = 9 }, b = { .value = 1, .first = 1, .last = 6 };
	struct interval_tree_node x = { .start = 2, .last = 3 }, y = { .start = 4, .last = 6 };
	struct interval_tree_span_iter span;
	struct rb_node *node;
	int key = 1, n = 0;

	items_insert(&a, &root);
	items_insert(&b, &root);
	IS(items_iter_first(&root, 6, 7), &b);
	IS(items_iter_next(&b, 6, 7), &a);
	IS(rb_first_cached(&root), &b.rb);
	rb_for_each(node, &key, &root.rb_root, by_value)
		n++;
	IS(n, 2);
	items_remove(&b, &root);
	IS(items_iter_first(&root, 1, 4), (struct item *)NULL);
	rb_erase_augmented_cached(&a.rb, &root, &counted);
	rb_link_node(&a.rb, NULL, &root.rb_root.rb_node);
	rb_insert_augmented_cached(&a.rb, &root, true, &largest);
	interval_tree_insert(&x, &tree);
	interval_tree_insert(&y, &tree);
	n = 0;
	interval_tree_for_each_span(&span, &tree, 0, 10)
		n = n * 100 + (int)(span.last_hole * 10) + span.is_hole;
	IS(n, 11 * 10000 + 60 * 100 + 101);
}

static struct rhltable table;
static const struct rhashtable_params params = {
	.key_len = sizeof(int), .key_offset = offsetof(struct item, value), .head_offset = offsetof(struct item, list),
};

static void tables(void)
{
	struct item one = { .value = 7 }, two = { .value = 7 }, *item;
	struct rhlist_head *pos, *list;
	struct bucket_table *tbl;
	int n = 0, key = 7;

	IS(rhltable_init(&table, &params), 0);
	IS(rhltable_insert(&table, &one.list, params) + rhltable_insert(&table, &two.list, params), 0);
	rcu_read_lock();
	list = rhltable_lookup(&table, &key, params);
	rhl_for_each_rcu(pos, list)
		n++;
	rhl_for_each_entry_rcu(item, pos, list, list)
		n += item->value;
	IS(n, 16);
	tbl = rht_dereference_rcu(table.ht.tbl, &table.ht);
	IS(tbl, rht_dereference(table.ht.tbl, &table.ht));
	IS(rht_dereference_bucket(tbl->buckets[0], tbl, 0), rht_dereference_bucket_rcu(tbl->buckets[0], tbl, 0));
	IS(rht_entry(item, list, list), 1);
	rcu_read_unlock();
	rhltable_destroy(&table);
}

static void buffers(void)
{
	struct sk_buff_head queue;
	struct sk_buff *skb, *next;
	int n = 0;

	skb_queue_head_init(&queue);
	skb_queue_tail(&queue, alloc_skb(10, GFP_KERNEL));
	skb_queue_tail(&queue, pskb_copy(skb_peek(&queue), GFP_KERNEL));
	skb_queue_walk(&queue, skb)
		n++;
	skb_queue_reverse_walk(&queue, skb)
		n++;
	IS(atomic_read(&skb_shinfo(skb_peek(&queue))->dataref), 1);
	skb_queue_walk_safe(&queue, skb, next) {
		n++;
		__skb_unlink(skb, &queue);
		dev_kfree_skb(skb);
	}
	IS(n, 6);
	dev_kfree_skb_any(alloc_skb(10, GFP_KERNEL));
	dev_kfree_skb_irq(alloc_skb(10, GFP_KERNEL));
	IS(SKB_DATA_ALIGN(65), 128UL);
	IS(SKB_TRUESIZE(0) > 0, true);
	IS(SKB_WITH_OVERHEAD(4096) < 4096, true);
}

static void blocks(void)
{
	kmem_buckets *set = kmem_buckets_create("every", 0, 0, 0, NULL);
	char *p = kmem_buckets_alloc(set, 10, GFP_KERNEL), *q;

	kfree(p);
	kfree(kmem_buckets_alloc_track_caller(set, 10, GFP_KERNEL));
	kfree(kmem_buckets_alloc_node_track_caller(set, 10, GFP_KERNEL, 0));
	kvfree_atomic(kmem_buckets_valloc(set, 100000, GFP_KERNEL));
	kfree(set);
	kfree_nolock(kmalloc_nolock(10, __GFP_ZERO, NUMA_NO_NODE));
	kvfree_rcu_barrier_on_cache(NULL);
	p = krealloc_node(NULL, 10, GFP_KERNEL, 0);
	q = kvrealloc(p, 10, 20, GFP_KERNEL);
	q = kvrealloc_node(q, 30, GFP_KERNEL, 0);
	kvfree(q);
	kvfree(kvmalloc_array_node(3, 4, GFP_KERNEL, 0));
	kvfree(kvcalloc_node(3, 4, GFP_KERNEL, 0));
}

static struct klist klist = KLIST_INIT(klist, NULL, NULL);
static DEFINE_KLIST(klist2, NULL, NULL);
static DEFINE_RATELIMIT_STATE(limit, HZ * 60, 1);
static struct ratelimit_state limit2 = RATELIMIT_STATE_INIT(limit2, 0, 1);
static struct ratelimit_state limit3 = RATELIMIT_STATE_INIT_FLAGS(limit3, HZ, 1, RATELIMIT_MSG_ON_RELEASE);

static int real(int x)
{
	KUNIT_STATIC_STUB_REDIRECT(real, x);
	return x;
}
static int replacement(int x)
{
	return x + 1;
}

static void words(void)
{
	char field[4], text[8];
	struct u64_stats_sync sync;
	unsigned long prime, sum = 0;
	unsigned int seen;

	strtomem(field, "abcd");
	strtomem_pad(field, "ab", 'x');
	IS(memcmp(field, "abxx", 4), 0);
	memtostr(text, field);
	memtostr_pad(text, field);
	IS(strcmp(text, "abxx"), 0);
	IS(strends(text, "xx"), 1);
	IS(crc32(~0U, "123456789", 9) ^ ~0U, 0xcbf43926U);
	IS(__crc32c_le(~0U, "123456789", 9) ^ ~0U, 0xe3069283U);
	IS(crc32_be(~0U, "123456789", 9) ^ ~0U, 0xfc891918U);
	IS(crc64_rocksoft_generic(0, "123456789", 9), 0xae8b14860a799888ULL);
	for_each_prime_number(prime, 20)
		sum += prime;
	for_each_prime_number_from(prime, 20, 30)
		sum += prime;
	IS(sum, 77 + 23 + 29);
	IS(__ratelimit(&limit), 1);
	IS(__ratelimit(&limit), 0);
	IS(__ratelimit(&limit2) + __ratelimit(&limit3), 2);
	__u64_stats_update_begin(&sync);
	__u64_stats_update_end(&sync);
	seen = u64_stats_fetch_begin_irq(&sync);
	IS(u64_stats_fetch_retry_irq(&sync, seen), false);
	IS(list_empty(&klist.k_list) + list_empty(&klist2.k_list), 2);
	kunit_fail_current_test("never");
	IS(real(1), 1);
	if (kunit_get_current_test())
		kunit_activate_static_stub(kunit_get_current_test(), real, replacement);
}

static int __init every_init(void)
{
	keys();
	locks();
	chains();
	bits();
	trees();
	tables();
	buffers();
	blocks();
	words();
	return result();
}

static void __exit every_exit(void)
{
}
module_init(every_init);
module_exit(every_exit);
MODULE_LICENSE("GPL");
