/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The kernel's own lib/xarray.c as a peer. build.sh takes it out of the linux-source-6.1 package at build
 * time and compiles it together with this file, once for each compiler setting.
 *
 * Everything around it is made as cheap as it can be: nodes come from a free list of zeroed objects carved
 * from large blocks (a kmem_cache without its locks), and are freed without a grace period as long as one
 * thread runs. An empty array keeps up to 1 GiB of blocks. The read side is QSBR, which costs nothing.
 */
#include <stdlib.h>
#include <string.h>
#include <linux/gfp.h>
#include <linux/slab.h>
#include <linux/radix-tree.h>

#undef call_rcu
#define call_rcu(head, func) func(head)
#include "../../../lib/xarray.c"

struct kmem_cache *radix_tree_node_cachep;
int kmalloc_verbose, test_verbose;

#define BLOCK_BYTES 65536
/* An empty array keeps as many, 1 GiB, so that filling the next one does not include asking for memory. */
#define KEPT_BLOCKS 16384

/* Nodes that are asked for at once. */
struct block {
	struct xa_node nodes[BLOCK_BYTES / sizeof(struct xa_node)];
	struct block *next;
};
_Static_assert(sizeof(struct block) <= BLOCK_BYTES, "the link fits behind the nodes");

static struct block *blocks;
static unsigned long blocks_count;
static struct xa_node *free_nodes;
static unsigned long nodes_in_use;
/* While other threads read, nodes are not used again. */
static int keep_nodes;

void *kmem_cache_alloc_lru(struct kmem_cache *cachep, struct list_lru *lru, int flags)
{
	struct xa_node *node = free_nodes;

	if (!node) {
		struct block *block = aligned_alloc(BLOCK_BYTES, BLOCK_BYTES);
		size_t i;

		memset(block, 0, BLOCK_BYTES);
		block->next = blocks;
		blocks = block;
		blocks_count++;
		for (i = 0; i < sizeof(block->nodes) / sizeof(*node); i++) {
			node = &block->nodes[i];
			INIT_LIST_HEAD(&node->private_list);
			node->parent = free_nodes;
			free_nodes = node;
		}
		node = free_nodes;
	}
	free_nodes = node->parent;
	node->parent = NULL;
	nodes_in_use++;
	return node;
}

void kmem_cache_free(struct kmem_cache *cachep, void *object)
{
	struct xa_node *node = object;

	nodes_in_use--;
	node->parent = free_nodes;
	free_nodes = node;
}

/* As lib/radix-tree.c leaves a node for the next user. */
void radix_tree_node_rcu_free(struct rcu_head *head)
{
	struct xa_node *node = container_of(head, struct xa_node, rcu_head);

	if (keep_nodes) {
		nodes_in_use--;
		return;
	}
	memset(node->slots, 0, sizeof(node->slots));
	memset(node->tags, 0, sizeof(node->tags));
	INIT_LIST_HEAD(&node->private_list);
	kmem_cache_free(NULL, node);
}

int lockdep_is_held(const void *lock)
{
	return 1;
}

void *kxa_new(void)
{
	struct xarray *xa = malloc(sizeof(*xa));

	/* All builds share one liburcu. */
	if (!URCU_TLS(urcu_qsbr_reader).ctr)
		rcu_register_thread();
	xa_init(xa);
	return xa;
}

/* The arrays of a million random numbers have 7 GB each: three builds of them do not fit beside one another. */
static void free_blocks(void)
{
	while (blocks) {
		struct block *next = blocks->next;

		free(blocks);
		blocks = next;
	}
	blocks_count = 0;
	free_nodes = NULL;
}

void kxa_free(struct xarray *xa)
{
	xa_destroy(xa);
	free(xa);
	if (!nodes_in_use && !keep_nodes && blocks_count > KEPT_BLOCKS)
		free_blocks();
}

unsigned long kxa_bytes(void)
{
	return nodes_in_use * sizeof(struct xa_node);
}

void kxa_insert(struct xarray *xa, const unsigned long *keys, const unsigned long *entries, unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++)
		xa_store(xa, keys[i], (void *)entries[i], GFP_KERNEL);
}

void kxa_erase(struct xarray *xa, const unsigned long *keys, unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++)
		xa_erase(xa, keys[i]);
}

unsigned long kxa_hit(struct xarray *xa, const unsigned long *keys, unsigned long n)
{
	unsigned long i, sum = 0;

	for (i = 0; i < n; i++)
		sum += (unsigned long)xa_load(xa, keys[i]);
	return sum;
}

unsigned long kxa_chain(struct xarray *xa, unsigned long key, unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++)
		key = (unsigned long)((long)xa_load(xa, key) >> 1);
	return key;
}

unsigned long kxa_iterate(struct xarray *xa)
{
	unsigned long index, sum = 0;
	void *entry;

	xa_for_each(xa, index, entry)
		sum += (unsigned long)entry;
	return sum;
}

unsigned long kxa_find(struct xarray *xa, const unsigned long *keys, unsigned long n)
{
	unsigned long i, sum = 0;

	for (i = 0; i < n; i++) {
		unsigned long index = keys[i];

		sum += (unsigned long)xa_find(xa, &index, ULONG_MAX, XA_PRESENT);
	}
	return sum;
}

unsigned long kxa_find_after(struct xarray *xa, const unsigned long *keys, unsigned long n)
{
	unsigned long i, sum = 0;

	for (i = 0; i < n; i++) {
		unsigned long index = keys[i];

		sum += (unsigned long)xa_find_after(xa, &index, ULONG_MAX, XA_PRESENT);
	}
	return sum;
}

/* Visits so many entries from each key on. */
unsigned long kxa_scan(struct xarray *xa, const unsigned long *keys, unsigned long n, unsigned long length)
{
	unsigned long i, index, sum = 0;
	void *entry;

	for (i = 0; i < n; i++) {
		unsigned long left = length;

		xa_for_each_start(xa, index, entry, keys[i]) {
			sum += (unsigned long)entry;
			if (!--left)
				break;
		}
	}
	return sum;
}

void kxa_mark(struct xarray *xa, const unsigned long *keys, unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++)
		xa_set_mark(xa, keys[i], XA_MARK_1);
}

unsigned long kxa_iterate_marked(struct xarray *xa)
{
	unsigned long index, sum = 0;
	void *entry;

	xa_for_each_marked(xa, index, entry, XA_MARK_1)
		sum += (unsigned long)entry;
	return sum;
}

/* As kxa_insert, with the lock taken once. */
void kxa_bulk(struct xarray *xa, const unsigned long *keys, const unsigned long *entries, unsigned long n)
{
	XA_STATE(xas, xa, 0);
	unsigned long i;

	xas_lock(&xas);
	for (i = 0; i < n; i++) {
		xas_set(&xas, keys[i]);
		xas_store(&xas, (void *)entries[i]);
	}
	xas_unlock(&xas);
}

void kxa_store_ranges(struct xarray *xa, const unsigned long *firsts, const unsigned long *lasts, unsigned long n)
{
	unsigned long i;

	for (i = 0; i < n; i++)
		xa_store_range(xa, firsts[i], lasts[i], xa_mk_value(i), GFP_KERNEL);
}

/* A reader beside a writer. */
unsigned long kxa_read_until(struct xarray *xa, const unsigned long *keys, unsigned long n, const volatile char *stop)
{
	unsigned long i, rounds = 0;

	rcu_register_thread();
	while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
		for (i = 0; i < 1024; i++) {
			unsigned long key = keys[(rounds * 1024 + i) % n];

			__asm__ volatile("" : : "r"(xa_load(xa, key)));
		}
		rounds++;
		rcu_quiescent_state();
	}
	rcu_unregister_thread();
	return rounds * 1024;
}

unsigned long kxa_write_until(struct xarray *xa, const unsigned long *keys, const unsigned long *entries,
			      unsigned long n, const volatile char *stop)
{
	unsigned long i, count = 0;

	keep_nodes = 1;
	rcu_register_thread();
	while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
		for (i = 0; i < 64; i++, count++) {
			unsigned long at = count / 2 % n;

			if (count % 2)
				xa_store(xa, keys[at], (void *)entries[at], GFP_KERNEL);
			else
				xa_erase(xa, keys[at]);
		}
		rcu_quiescent_state();
	}
	rcu_unregister_thread();
	keep_nodes = 0;
	return count;
}
