/* Every macro of lists, trees, tables, rings, chains and indices. */
#include <linux/hashtable.h>
#include <linux/idr.h>
#include <linux/kfifo.h>
#include <linux/list.h>
#include <linux/list_sort.h>
#include <linux/llist.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/radix-tree.h>
#include <linux/rbtree.h>
#include <linux/rculist.h>
#include <linux/reboot.h>
#include <linux/xarray.h>

struct item {
	int value;
	struct list_head list;
	struct hlist_node hash;
	struct llist_node lock_free;
	struct rb_node tree;
	struct rcu_head rcu;
};
static LIST_HEAD(items);
static HLIST_HEAD(bucket);
static LLIST_HEAD(stack);
static struct list_head by_name = LIST_HEAD_INIT(by_name);
static struct llist_head stack2 = LLIST_HEAD_INIT(stack2);
static DEFINE_HASHTABLE(table, 4);
static DEFINE_READ_MOSTLY_HASHTABLE(table2, 4);
static DECLARE_HASHTABLE(table3, 4);
static struct rb_root root = RB_ROOT;
static int sum;

static int compare(void *priv, const struct list_head *a, const struct list_head *b)
{
	return list_entry(a, struct item, list)->value - list_entry(b, struct item, list)->value;
}

void lists(void)
{
	struct item one = { 1 }, two = { 2 }, *item, *next;
	struct list_head *at, *then;

	list_add_tail(&one.list, &items);
	list_add_tail(&two.list, &items);
	list_for_each(at, &items)
		sum++;
	__list_for_each(at, &items)
		sum++;
	at = items.next;
	list_for_each_continue(at, &items)
		sum++;
	list_for_each_prev(at, &items)
		sum++;
	list_for_each_safe(at, then, &items)
		sum++;
	list_for_each_prev_safe(at, then, &items)
		sum++;
	list_for_each_rcu(at, &items)
		sum++;
	list_for_each_entry(item, &items, list)
		sum++;
	list_for_each_entry_reverse(item, &items, list)
		sum++;
	item = NULL;
	item = list_prepare_entry(item, &items, list);
	list_for_each_entry_continue(item, &items, list)
		sum++;
	item = &two;
	list_for_each_entry_continue_reverse(item, &items, list)
		sum++;
	item = &one;
	list_for_each_entry_continue_rcu(item, &items, list)
		sum++;
	item = &two;
	list_for_each_entry_from(item, &items, list)
		sum++;
	list_for_each_entry_safe(item, next, &items, list)
		sum++;
	item = &one;
	list_for_each_entry_safe_continue(item, next, &items, list)
		sum++;
	item = &one;
	list_for_each_entry_safe_from(item, next, &items, list)
		sum++;
	list_for_each_entry_safe_reverse(item, next, &items, list)
		sum++;
	rcu_read_lock();
	list_for_each_entry_rcu(item, &items, list)
		sum++;
	list_for_each_entry_rcu(item, &items, list, rcu_read_lock_held())
		sum++;
	item = list_first_or_null_rcu(&items, struct item, list);
	item = list_entry_rcu(items.next, struct item, list);
	sum += list_next_rcu(&items) == &one.list;
	rcu_read_unlock();
	list_sort(NULL, &items, compare);
	item = list_first_entry(&items, struct item, list);
	item = list_last_entry(&items, struct item, list);
	item = list_first_entry_or_null(&items, struct item, list);
	item = list_next_entry(item, list);
	item = list_prev_entry(item, list);
	sum += list_entry_is_head(item, &items, list);
	INIT_LIST_HEAD(&items);
	sum += list_empty(&by_name);
}

void tables(void)
{
	struct item one = { 1 }, *item;
	struct hlist_node *node, *next;
	struct hlist_head fresh;
	int i;

	INIT_HLIST_HEAD(&fresh);
	hlist_add_head_rcu(&one.hash, &bucket);
	hlist_for_each(node, &bucket)
		sum++;
	hlist_for_each_safe(node, next, &bucket)
		sum++;
	hlist_for_each_entry(item, &bucket, hash)
		sum++;
	hlist_for_each_entry(item, node, &bucket, hash)
		sum++;
	hlist_for_each_entry_safe(item, next, &bucket, hash)
		sum++;
	hlist_for_each_entry_safe(item, node, next, &bucket, hash)
		sum++;
	item = &one;
	hlist_for_each_entry_continue(item, hash)
		sum++;
	node = &one.hash;
	hlist_for_each_entry_continue(item, node, hash)
		sum++;
	item = &one;
	hlist_for_each_entry_from(item, hash)
		sum++;
	node = &one.hash;
	hlist_for_each_entry_from(item, node, hash)
		sum++;
	hlist_for_each_entry_rcu(item, &bucket, hash)
		sum++;
	item = hlist_entry(bucket.first, struct item, hash);
	item = hlist_entry_safe(bucket.first, struct item, hash);
	sum += hlist_first_rcu(&bucket) == hlist_pprev_rcu(&one.hash);
	sum += hlist_next_rcu(&one.hash) == NULL;
	sum += hlist_unhashed_lockless(&one.hash) + hlist_fake(&one.hash);
	sum += hlist_is_singular_node(&one.hash, &bucket);
	hlist_del_rcu(&one.hash);

	hash_init(table3);
	hash_add(table, &one.hash, one.value);
	hash_for_each(table, i, item, hash)
		sum++;
	hash_for_each(table, i, node, item, hash)
		sum++;
	hash_for_each_rcu(table, i, item, hash)
		sum++;
	hash_for_each_safe(table, i, next, item, hash)
		sum++;
	hash_for_each_safe(table, i, node, next, item, hash)
		sum++;
	hash_for_each_possible(table, item, hash, 1)
		sum++;
	hash_for_each_possible(table, item, node, hash, 1)
		sum++;
	hash_for_each_possible_rcu(table, item, hash, 1)
		sum++;
	hash_for_each_possible_safe(table, item, next, hash, 1)
		sum++;
	hash_for_each_possible_safe(table, item, node, next, hash, 1)
		sum++;
	sum += hash_hashed(&one.hash) + hash_empty(table2) + HASH_SIZE(table) + HASH_BITS(table);
	sum += hash_min(7U, 4);
	hash_del(&one.hash);
	hash_add_rcu(table, &one.hash, 2UL);
	hash_del_rcu(&one.hash);
}

void stacks_and_trees(void)
{
	struct item one = { 1 }, *item, *next;
	struct llist_node *node, *then;

	init_llist_head(&stack);
	llist_add(&one.lock_free, &stack);
	llist_for_each(node, stack.first)
		sum++;
	llist_for_each_safe(node, then, stack.first)
		sum++;
	llist_for_each_entry(item, stack.first, lock_free)
		sum++;
	llist_for_each_entry_safe(item, next, stack.first, lock_free)
		sum++;
	item = llist_entry(stack.first, struct item, lock_free);
	sum += llist_next(stack.first) == NULL && llist_empty(&stack2);
	item = __llist_entry_or_null(stack2.first, struct item, lock_free);
	RB_CLEAR_NODE(&one.tree);
	sum += RB_EMPTY_NODE(&one.tree) + RB_EMPTY_ROOT(&root);
	rb_link_node(&one.tree, NULL, &root.rb_node);
	rb_insert_color(&one.tree, &root);
	sum += rb_parent(&one.tree) == NULL;
	item = rb_entry(root.rb_node, struct item, tree);
	item = rb_entry_safe(rb_first(&root), struct item, tree);
	rbtree_postorder_for_each_entry_safe(item, next, &root, tree)
		sum++;
}

static DEFINE_KFIFO(ring, int, 8);
static DECLARE_KFIFO(ring2, int, 8);
static DECLARE_KFIFO_PTR(ring3, int);
static STRUCT_KFIFO_PTR(long) ring4;
static STRUCT_KFIFO_REC_1(64) records1;
static STRUCT_KFIFO_REC_2(64) records2;
static DEFINE_SPINLOCK(ring_lock);

void rings(void)
{
	int values[4] = { 1, 2, 3, 4 }, value;
	unsigned int copied;

	INIT_KFIFO(ring2);
	INIT_KFIFO(records1);
	INIT_KFIFO(records2);
	sum += kfifo_init(&ring4, values, sizeof(values));
	sum += kfifo_alloc(&ring3, 8, GFP_KERNEL);
	sum += kfifo_put(&ring, 5) + kfifo_in(&ring, values, 4);
	sum += kfifo_in_spinlocked(&ring, values, 1, &ring_lock);
	sum += kfifo_in_locked(&ring, values, 1, &ring_lock);
	sum += __kfifo_spinlocked(&ring_lock, kfifo_in(&ring, values, 1));
	sum += kfifo_len(&ring) + kfifo_avail(&ring) + kfifo_size(&ring) + kfifo_esize(&ring);
	sum += kfifo_recsize(&records1) + kfifo_peek_len(&records2);
	sum += kfifo_is_empty(&ring) + kfifo_is_full(&ring) + kfifo_initialized(&ring);
	sum += kfifo_peek(&ring, &value) + kfifo_out_peek(&ring, values, 2);
	sum += kfifo_get(&ring, &value) + kfifo_out(&ring, values, 2);
	sum += kfifo_out_spinlocked(&ring, values, 1, &ring_lock);
	sum += kfifo_out_locked(&ring, values, 1, &ring_lock);
	set_fs(KERNEL_DS);
	sum += kfifo_from_user(&ring, values, sizeof(values), &copied);
	sum += kfifo_to_user(&ring, values, sizeof(values), &copied);
	set_fs(USER_DS);
	kfifo_skip(&ring);
	kfifo_reset_out(&ring);
	kfifo_reset(&ring);
	kfifo_free(&ring3);
}

static ATOMIC_NOTIFIER_HEAD(atomic_chain);
static BLOCKING_NOTIFIER_HEAD(blocking_chain);
static RAW_NOTIFIER_HEAD(raw_chain);
static struct atomic_notifier_head atomic_chain2 = ATOMIC_NOTIFIER_INIT(atomic_chain2);
static struct blocking_notifier_head blocking_chain2 = BLOCKING_NOTIFIER_INIT(blocking_chain2);
static struct raw_notifier_head raw_chain2 = RAW_NOTIFIER_INIT(raw_chain2);

void chains(void)
{
	struct notifier_block block = { NULL };

	ATOMIC_INIT_NOTIFIER_HEAD(&atomic_chain);
	BLOCKING_INIT_NOTIFIER_HEAD(&blocking_chain);
	RAW_INIT_NOTIFIER_HEAD(&raw_chain);
	sum += atomic_chain2.head == NULL && blocking_chain2.head == NULL && raw_chain2.head == NULL;
	sum += register_reboot_notifier(&block) + unregister_reboot_notifier(&block);
}

static DEFINE_IDR(ids);
static struct idr ids2 = IDR_INIT(ids2), ids3 = IDR_INIT_BASE(ids3, 5);
static DEFINE_IDA(numbers);
static struct ida numbers2 = IDA_INIT(numbers2);
static RADIX_TREE(radix, GFP_ATOMIC);
static struct radix_tree_root radix2 = RADIX_TREE_INIT(radix2, GFP_KERNEL);

void indices(void)
{
	struct item one, *item;
	struct radix_tree_iter iter;
	unsigned long flags, index, tmp;
	void **slot;
	int id;

	sum += idr_get_new(&ids, &one, &id) + ida_get_new(&numbers, &id);
	idr_for_each_entry(&ids, item, id)
		sum++;
	id = 0;
	idr_for_each_entry_continue(&ids, item, id)
		sum++;
	idr_for_each_entry_ul(&ids, item, tmp, index)
		sum++;
	index = 0;
	idr_for_each_entry_continue_ul(&ids, item, tmp, index)
		sum++;
	idr_lock(&ids);
	idr_unlock(&ids);
	idr_lock_bh(&ids);
	idr_unlock_bh(&ids);
	idr_lock_irq(&ids);
	idr_unlock_irq(&ids);
	idr_lock_irqsave(&ids, flags);
	idr_unlock_irqrestore(&ids, flags);
	idr_remove_all(&ids);
	sum += ids2.idr_base + ids3.idr_base;
	sum += ida_simple_get(&numbers2, 1, 9, GFP_KERNEL);
	ida_simple_remove(&numbers2, 1);
	ida_remove(&numbers, 0);
	INIT_RADIX_TREE(&radix2, GFP_KERNEL);
	sum += __RADIX_TREE_GFP(&radix) + radix_tree_insert(&radix, 3, &one);
	radix_tree_for_each_slot(slot, &radix, &iter, 0)
		sum++;
	radix_tree_for_each_tagged(slot, &radix, &iter, 0, 1)
		sum++;
	radix_tree_delete(&radix, 3);
}

static DEFINE_XARRAY(array);
static DEFINE_XARRAY_FLAGS(array2, XA_FLAGS_LOCK_BH);
static DEFINE_XARRAY_ALLOC(array3);
static DEFINE_XARRAY_ALLOC1(array4);
static struct xarray array5 = XARRAY_INIT(array5, XA_FLAGS_MARK(XA_MARK_0));

void arrays(void)
{
	XA_STATE(state, &array, 0);
	XA_STATE_ORDER(wide, &array, 0, 2);
	struct item one, *item;
	unsigned long index, flags;
	u32 id;

	xa_store(&array, 3, &one, GFP_KERNEL);
	xa_for_each(&array, index, item)
		sum++;
	xa_for_each_marked(&array, index, item, XA_MARK_1)
		sum++;
	xa_for_each_range(&array, index, item, 1, 5)
		sum++;
	xa_for_each_start(&array, index, item, 2)
		sum++;
	xa_lock(&array);
	xa_unlock(&array);
	xa_lock_bh(&array2);
	xa_unlock_bh(&array2);
	xa_lock_irq(&array);
	xa_unlock_irq(&array);
	xa_lock_irqsave(&array, flags);
	xa_unlock_irqrestore(&array, flags);
	xa_lock_nested(&array, 1);
	xa_unlock(&array);
	xa_lock_bh_nested(&array, 1);
	xa_unlock_bh(&array);
	xa_lock_irq_nested(&array, 1);
	xa_unlock_irq(&array);
	xa_lock_irqsave_nested(&array, flags, 1);
	xa_unlock_irqrestore(&array, flags);
	if (xa_trylock(&array))
		xa_unlock(&array);
	rcu_read_lock();
	xas_for_each(&state, item, 10)
		sum++;
	xas_for_each_marked(&state, item, 10, XA_MARK_0)
		sum++;
	xas_for_each_conflict(&wide, item)
		sum++;
	rcu_read_unlock();
	xas_lock(&state);
	xas_unlock(&state);
	xas_lock_bh(&state);
	xas_unlock_bh(&state);
	xas_lock_irq(&state);
	xas_unlock_irq(&state);
	xas_lock_irqsave(&state, flags);
	xas_unlock_irqrestore(&state, flags);
	if (xas_trylock(&state))
		xas_unlock(&state);
	sum += xas_marked(&state, XA_MARK_0);
	sum += xa_alloc(&array3, &id, &one, XA_LIMIT(0, 9), GFP_KERNEL);
	sum += xa_empty(&array4) + xa_marked(&array5, XA_MARK_0) + (XA_ERROR(-ENOMEM) != NULL);
	XA_BUG_ON(&array, 0);
	XA_NODE_BUG_ON(NULL, 0);
	xa_destroy(&array);
}

static int __init every_init(void)
{
	return 0;
}

static void __exit every_exit(void)
{
}
module_init(every_init);
module_exit(every_exit);
MODULE_LICENSE("GPL");
