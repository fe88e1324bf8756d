/* What keeps objects: an IDR and an IDA, an XArray with marks, a red-black tree, a radix tree, and lists of every kind. */
#include <linux/bitmap.h>
#include <linux/idr.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/list_sort.h>
#include <linux/llist.h>
#include <linux/module.h>
#include <linux/radix-tree.h>
#include <linux/rbtree.h>
#include <linux/slab.h>
#include <linux/xarray.h>

struct item {
	int key;
	struct rb_node rb;
	struct list_head list;
	struct hlist_node hash;
	struct llist_node lockless;
};

static struct item items[8];
static DEFINE_IDR(handles);
static DEFINE_IDA(numbers);
static DEFINE_XARRAY_ALLOC(array);
static struct rb_root tree = RB_ROOT;
static RADIX_TREE(radix, GFP_KERNEL);

static int tell_handle(int id, void *p, void *data)
{
	pr_info("handle %d: %d\n", id, ((struct item *)p)->key);
	return 0;
}

static int use_handles(void)
{
	void *p;
	int id;

	pr_info("id %d\n", idr_alloc(&handles, &items[0], 10, 20, GFP_KERNEL));
	pr_info("id %d\n", idr_alloc(&handles, &items[1], 10, 0, GFP_KERNEL));
	pr_info("id %d\n", idr_alloc_cyclic(&handles, &items[2], 0, 0, GFP_KERNEL));
	idr_preload(GFP_KERNEL);
	id = idr_alloc(&handles, &items[3], 10, 12, GFP_NOWAIT);
	idr_preload_end();
	pr_info("no room: %d, found %d\n", id, idr_find(&handles, 11) == &items[1]);
	idr_for_each(&handles, tell_handle, NULL);
	idr_remove(&handles, 10);
	idr_for_each_entry(&handles, p, id)
		pr_info("left: %d\n", id);
	pr_info("number %d\n", ida_alloc(&numbers, GFP_KERNEL));
	pr_info("number %d\n", ida_alloc_min(&numbers, 5, GFP_KERNEL));
	pr_info("number %d\n", ida_alloc_range(&numbers, 0, 0, GFP_KERNEL));
	ida_free(&numbers, 5);
	idr_destroy(&handles);
	ida_destroy(&numbers);
	return 0;
}

static int use_array(void)
{
	unsigned long index;
	void *entry;
	u32 id;

	if (xa_alloc(&array, &id, &items[0], xa_limit_32b, GFP_KERNEL) || xa_err(xa_store(&array, 70, &items[1], GFP_KERNEL)))
		return -ENOMEM;
	xa_store(&array, 5000, xa_mk_value(42), GFP_KERNEL);
	xa_set_mark(&array, 70, XA_MARK_1);
	xa_for_each(&array, index, entry)
		pr_info("array[%lu]: value %d\n", index, xa_is_value(entry) ? (int)xa_to_value(entry) : -1);
	xa_for_each_marked(&array, index, entry, XA_MARK_1)
		pr_info("marked %lu\n", index);
	pr_info("id %u, there %d\n", id, xa_load(&array, 70) == &items[1]);
	pr_info("erased %d\n", xa_erase(&array, 70) == &items[1]);
	pr_info("cmpxchg %d\n", xa_cmpxchg(&array, 5000, xa_mk_value(42), NULL, GFP_KERNEL) != NULL);
	xa_destroy(&array);
	return radix_tree_insert(&radix, 3, &items[3]) ?: radix_tree_delete(&radix, 3) != &items[3];
}

static void insert(struct item *new)
{
	struct rb_node **at = &tree.rb_node, *parent = NULL;

	while (*at) {
		parent = *at;
		at = new->key < rb_entry(parent, struct item, rb)->key ? &parent->rb_left : &parent->rb_right;
	}
	rb_link_node(&new->rb, parent, at);
	rb_insert_color(&new->rb, &tree);
}

static void use_tree(void)
{
	struct item *item, *next;
	struct rb_node *node;

	for (node = rb_first(&tree); node; node = rb_next(node))
		pr_cont("%d ", rb_entry(node, struct item, rb)->key);
	pr_cont("in order, last %d\n", rb_entry(rb_last(&tree), struct item, rb)->key);
	rb_erase(&items[2].rb, &tree);
	rbtree_postorder_for_each_entry_safe(item, next, &tree, rb)
		RB_CLEAR_NODE(&item->rb);
	tree = RB_ROOT;
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 13, 0)
static int compare(void *priv, struct list_head *a, struct list_head *b)
#else
static int compare(void *priv, const struct list_head *a, const struct list_head *b)
#endif
{
	return list_entry(a, struct item, list)->key - list_entry(b, struct item, list)->key;
}

static void use_lists(void)
{
	LIST_HEAD(all);
	LIST_HEAD(some);
	HLIST_HEAD(bucket);
	LLIST_HEAD(queue);
	struct item *item, *next;
	struct llist_node *batch;
	int i, sum = 0;

	for (i = 0; i < ARRAY_SIZE(items); i++) {
		list_add(&items[i].list, &all);
		hlist_add_head(&items[i].hash, &bucket);
		llist_add(&items[i].lockless, &queue);
	}
	list_sort(NULL, &all, compare);
	list_cut_position(&some, &all, &items[3].list);
	list_move_tail(some.next, &all);
	list_splice_init(&some, &all);
	list_for_each_entry_safe(item, next, &all, list)
		if (item->key % 2)
			list_del_init(&item->list);
	list_for_each_entry_reverse(item, &all, list)
		pr_cont("%d,", item->key);
	hlist_for_each_entry(item, &bucket, hash)
		sum += item->key;
	batch = llist_reverse_order(llist_del_all(&queue));
	pr_cont(" first %d, sum %d, llist first %d, empty %d\n", list_first_entry(&all, struct item, list)->key, sum,
		llist_entry(batch, struct item, lockless)->key, llist_empty(&queue));
}

static void use_bitmap(void)
{
	DECLARE_BITMAP(map, 100);
	unsigned long *big = bitmap_zalloc(1000, GFP_KERNEL);

	int bit;

	bitmap_zero(map, 100);
	bitmap_set(map, 3, 5);
	__set_bit(64, map);
	__clear_bit(5, map);
	for_each_set_bit(bit, map, 100)
		pr_cont("%d ", bit);

	pr_cont("weight %d, first free from 3: %lu, %*pbl\n", bitmap_weight(map, 100), find_next_zero_bit(map, 100, 3), 100, map);
	if (big)
		pr_info("area of 200: %lu\n", bitmap_find_next_zero_area(big, 1000, 13, 200, 15));
	bitmap_free(big);
}

static int __init collections_init(void)
{
	static const int keys[] = { 50, 20, 70, 10, 41, 60, 80, 31 };
	int i;

	for (i = 0; i < ARRAY_SIZE(items); i++) {
		items[i].key = keys[i];
		insert(&items[i]);
	}
	if (use_handles() || use_array())
		return -ENOMEM;
	use_tree();
	use_lists();
	use_bitmap();
	return 0;
}

static void __exit collections_exit(void)
{
}

module_init(collections_init);
module_exit(collections_exit);
MODULE_LICENSE("GPL");
