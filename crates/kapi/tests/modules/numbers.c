// SPDX-License-Identifier: MIT OR Apache-2.0
// Numbers for objects: idr as before 3.9 and after, ida, and a radix tree.
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/radix-tree.h>
#include <linux/slab.h>
#include <linux/version.h>

struct client {
	int id;
	char name[16];
};

static DEFINE_IDR(clients);
static DEFINE_IDA(minors);
static RADIX_TREE(pages, GFP_KERNEL);

static struct client *client_new(const char *name)
{
	struct client *client = kzalloc(sizeof(*client), GFP_KERNEL);

	if (!client)
		return NULL;
	strlcpy(client->name, name, sizeof(client->name));
#if LINUX_VERSION_CODE < KERNEL_VERSION(3, 9, 0)
	do {
		if (!idr_pre_get(&clients, GFP_KERNEL))
			break;
	} while (idr_get_new_above(&clients, client, 10, &client->id) == -EAGAIN);
#else
	client->id = idr_alloc(&clients, client, 10, 0, GFP_KERNEL);
#endif
	return client;
}

static int client_free(int id, void *p, void *data)
{
	++*(int *)data;
	kfree(p);
	return 0;
}

static int __init numbers_init(void)
{
	struct client *a = client_new("a"), *b = client_new("b"), *c = client_new("c");
	void *found[4];
	unsigned int count;
	int minor, other, third, freed = 0;

	if (!a || !b || !c)
		return -ENOMEM;
	printk(KERN_INFO "numbers: clients %d %d %d\n", a->id, b->id, c->id);
	idr_remove(&clients, b->id);
	kfree(b);
	b = client_new("again");
	printk(KERN_INFO "numbers: the lowest is taken again: %d %s\n", b->id,
	       ((struct client *)idr_find(&clients, 11))->name);
	minor = ida_simple_get(&minors, 0, 0, GFP_KERNEL);
	other = ida_simple_get(&minors, 0, 0, GFP_KERNEL);
	ida_simple_remove(&minors, minor);
	third = ida_simple_get(&minors, 0, 2, GFP_KERNEL);
	printk(KERN_INFO "numbers: minors %d %d, then %d, then %d\n", minor, other, third,
	       ida_simple_get(&minors, 0, 2, GFP_KERNEL));
	radix_tree_insert(&pages, 7, a);
	radix_tree_insert(&pages, 1UL << 40, c);
	count = radix_tree_gang_lookup(&pages, found, 0, 4);
	printk(KERN_INFO "numbers: again %d, found %u, %s and %p\n",
	       radix_tree_insert(&pages, 7, b), count, ((struct client *)found[1])->name,
	       radix_tree_lookup(&pages, 8));
	radix_tree_delete(&pages, 7);
	radix_tree_delete(&pages, 1UL << 40);
	idr_for_each(&clients, client_free, &freed);
	idr_destroy(&clients);
	ida_destroy(&minors);
	printk(KERN_INFO "numbers: freed %d\n", freed);
	return 0;
}

static void __exit numbers_exit(void)
{
}

module_init(numbers_init);
module_exit(numbers_exit);
MODULE_LICENSE("Dual MIT/GPL");
