/* The same list with the three-argument macro, chosen by LINUX_VERSION_CODE. */
#include <linux/module.h>
#include <linux/version.h>
#include <linux/hashtable.h>
#include <linux/slab.h>
#include <linux/ktime.h>

struct node {
	u32 key;
	struct hlist_node link;
};
static DEFINE_HASHTABLE(table, 6);

static int __init start(void)
{
	struct node *n;
	struct hlist_node *tmp;
	int bkt, count = 0;
	u32 i;
	ktime_t t0, t1;

	for (i = 0; i < 100; i++) {
		n = kzalloc(sizeof(*n), GFP_KERNEL);
		if (!n)
			return -ENOMEM;
		n->key = i;
		hash_add(table, &n->link, n->key);
	}
	t0 = ktime_get();
	hash_for_each_possible(table, n, link, 42)
		if (n->key == 42)
			count += 1000;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(3, 9, 0)
	hlist_for_each_entry(n, &table[hash_min(7, HASH_BITS(table))], link)
		if (n->key == 7)
			count += 10000;
#else
#error "hash_for_each_possible with three arguments came with 3.9"
#endif
	t1 = ktime_get();
	hash_for_each_safe(table, bkt, tmp, n, link) {
		hash_del(&n->link);
		kfree(n);
		count++;
	}
	pr_info("hlist_new: %d, time %s, empty %d\n", count,
		ktime_to_ns(ktime_sub(t1, t0)) > 0 ? "passed" : "stood", hash_empty(table));
	return 0;
}

static void __exit stop(void)
{
	pr_info("hlist_new: gone\n");
}
module_init(start);
module_exit(stop);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("hash list demo");
