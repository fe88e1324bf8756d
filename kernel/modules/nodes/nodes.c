// SPDX-License-Identifier: GPL-2.0-only
/*
 * nodes: do small objects share pages when the node asked for is full?
 *
 * Takes all pages of the second node and allocates objects from there with
 * kmalloc_node(), which may go to another node. An allocator that looks for
 * room on the full node only takes a fresh page for each object.
 */
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nodemask.h>
#include <linux/slab.h>

#define OBJECTS	600
#define SIZE	64

/* Objects of this size with what an allocator may have beside them. */
#define PAGES_MAX	(3 * OBJECTS * SIZE / PAGE_SIZE)

static void *objects[OBJECTS];
static LIST_HEAD(taken);

static unsigned long take_node(int node)
{
	unsigned long count = 0;
	struct page *page;

	for (;;) {
		page = alloc_pages_node(node, GFP_NOWAIT | __GFP_THISNODE | __GFP_NOWARN, 0);
		if (!page)
			return count;
		list_add(&page->lru, &taken);
		count++;
	}
}

static void give_back(void)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, &taken, lru) {
		list_del(&page->lru);
		__free_page(page);
	}
}

/* Returns how many pages the first @count objects lie in. */
static int pages_of(int count)
{
	int i, j, pages = 0;

	for (i = 0; i < count; i++) {
		for (j = 0; j < i; j++)
			if (PFN_DOWN(__pa(objects[j])) == PFN_DOWN(__pa(objects[i])))
				break;
		pages += j == i;
	}
	return pages;
}

static int __init nodes_init(void)
{
	int node, count = 0, elsewhere = 0, pages;
	unsigned long nr_taken;
	bool ok;

	if (num_online_nodes() < 2) {
		pr_err("nodes: needs two nodes: boot with numa=fake=2\n");
		return -ENODEV;
	}
	node = next_online_node(first_online_node);
	nr_taken = take_node(node);
	for (; count < OBJECTS; count++) {
		objects[count] = kmalloc_node(SIZE, GFP_KERNEL, node);
		if (!objects[count])
			break;
		elsewhere += page_to_nid(virt_to_page(objects[count])) != node;
	}
	pages = pages_of(count);
	ok = count == OBJECTS && elsewhere && pages <= PAGES_MAX;
	while (count--)
		kfree(objects[count]);
	give_back();
	pr_info("nodes: taken=%lu elsewhere=%d pages=%d result=%s\n", nr_taken, elsewhere, pages,
		ok ? "ok" : "bad");
	return ok ? 0 : -ENOMEM;
}

static void __exit nodes_exit(void)
{
}

module_init(nodes_init);
module_exit(nodes_exit);
MODULE_DESCRIPTION("Whether small objects share pages when the node asked for is full");
MODULE_LICENSE("GPL");
