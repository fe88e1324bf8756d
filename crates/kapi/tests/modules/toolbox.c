// SPDX-License-Identifier: MIT OR Apache-2.0
// Lists without locks, rings, notifier chains, sequence locks, sorting and searching.
#include <linux/bsearch.h>
#include <linux/kfifo.h>
#include <linux/list_sort.h>
#include <linux/llist.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/rbtree.h>
#include <linux/seqlock.h>
#include <linux/slab.h>
#include <linux/sort.h>

struct item {
	int value, order;
	struct list_head list;
	struct llist_node link;
	struct rb_node node;
};

static DEFINE_KFIFO(ring, int, 8);
static DEFINE_SEQLOCK(stamp);
static LLIST_HEAD(waiting);
static RAW_NOTIFIER_HEAD(chain);
static struct rb_root tree = RB_ROOT;

static int by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static int by_item(void *priv, const struct list_head *a, const struct list_head *b)
{
	return list_entry(a, struct item, list)->value - list_entry(b, struct item, list)->value;
}

static int note(struct notifier_block *nb, unsigned long action, void *data)
{
	pr_info("toolbox: notified %lu at priority %d\n", action, nb->priority);
	return nb->priority == 5 ? NOTIFY_STOP : NOTIFY_OK;
}

static struct notifier_block low = { .notifier_call = note, .priority = 1 };
static struct notifier_block middle = { .notifier_call = note, .priority = 5 };
static struct notifier_block high = { .notifier_call = note, .priority = 9 };

static void rings(void)
{
	int i, value = 0, sum = 0, block[3];

	for (i = 1; kfifo_put(&ring, i); i++)
		;
	while (kfifo_len(&ring) > 3 && kfifo_get(&ring, &value))
		sum += value;
	pr_info("toolbox: ring of %u took %d, sum %d, left %u\n", kfifo_size(&ring), i - 1, sum,
		kfifo_out(&ring, block, 3));
	pr_info("toolbox: last %d, empty %d\n", block[2], kfifo_is_empty(&ring));
}

static void tree_add(struct item *item)
{
	struct rb_node **at = &tree.rb_node, *parent = NULL;

	while (*at) {
		parent = *at;
		at = item->value < rb_entry(parent, struct item, node)->value ? &parent->rb_left :
										&parent->rb_right;
	}
	rb_link_node(&item->node, parent, at);
	rb_insert_color(&item->node, &tree);
}

static int lists(void)
{
	struct item *item, *next;
	int i, last = -1, stable = 1, count = 0, last_order = -1;
	LIST_HEAD(list);

	for (i = 0; i < 100; i++) {
		item = kmalloc(sizeof(*item), GFP_KERNEL);
		if (!item)
			return -ENOMEM;
		item->value = i * 37 % 10;
		item->order = i;
		list_add_tail(&item->list, &list);
		llist_add(&item->link, &waiting);
		tree_add(item);
	}
	list_sort(NULL, &list, by_item);
	list_for_each_entry(item, &list, list) {
		stable &= item->value > last || (item->value == last && item->order > last_order);
		last = item->value;
		last_order = item->order;
	}
	llist_for_each_entry(item, llist_del_all(&waiting), link)
		count++;
	pr_info("toolbox: sorted and stable %d, %d waited, empty %d\n", stable, count,
		llist_empty(&waiting));
	count = 0;
	rbtree_postorder_for_each_entry_safe(item, next, &tree, node) {
		kfree(item);
		count++;
	}
	pr_info("toolbox: %d freed\n", count);
	return 0;
}

static int __init toolbox_init(void)
{
	int numbers[] = { 9, 4, 7, 1 }, key = 7, *found;
	unsigned int seen;

	rings();
	raw_notifier_chain_register(&chain, &low);
	raw_notifier_chain_register(&chain, &high);
	raw_notifier_chain_register(&chain, &middle);
	raw_notifier_call_chain(&chain, 3, NULL);
	sort(numbers, 4, sizeof(int), by_value, NULL);
	found = bsearch(&key, numbers, 4, sizeof(int), by_value);
	pr_info("toolbox: %d at %td\n", *found, found - numbers);
	do {
		seen = read_seqbegin(&stamp);
		write_seqlock(&stamp);
		key++;
		write_sequnlock(&stamp);
	} while (read_seqretry(&stamp, seen) && key < 9);
	pr_info("toolbox: tried until %d\n", key);
	return lists();
}

static void __exit toolbox_exit(void)
{
}

module_init(toolbox_init);
module_exit(toolbox_exit);
MODULE_LICENSE("Dual MIT/GPL");
