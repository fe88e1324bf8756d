/* A hash list walked with the four-argument macro of before 3.9, timed with get_cycles(). */
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/init.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/timex.h>
#include <linux/hash.h>

#define BITS 4

struct item {
	int key;
	char pad[20];
	struct hlist_node link;
};

static struct hlist_head table[1 << BITS];
static int items = 200;
module_param(items, int, 0444);

static int __init hlist_old_init(void)
{
	struct hlist_node *pos, *next;
	struct item *it;
	cycles_t before, after;
	int i, seen = 0;
	long sum = 0;

	for (i = 0; i < (1 << BITS); i++)
		INIT_HLIST_HEAD(&table[i]);
	for (i = 0; i < items; i++) {
		it = kmalloc(sizeof(*it), GFP_KERNEL);
		if (it == NULL)
			return -ENOMEM;
		it->key = i;
		hlist_add_head(&it->link, &table[hash_long(i, BITS)]);
	}
	before = get_cycles();
	for (i = 0; i < (1 << BITS); i++)
		hlist_for_each_entry(it, pos, &table[i], link) {
			seen++;
			sum += it->key;
		}
	after = get_cycles();
	printk(KERN_INFO "hlist_old: walked %d items, sum %ld, %s\n", seen, sum,
	       after > before ? "took time" : "took none");
	for (i = 0; i < (1 << BITS); i++)
		hlist_for_each_entry_safe(it, pos, next, &table[i], link) {
			hlist_del(&it->link);
			kfree(it);
			seen--;
		}
	printk(KERN_INFO "hlist_old: %d items left\n", seen);
	return 0;
}

static void __exit hlist_old_exit(void)
{
	printk(KERN_INFO "hlist_old: done\n");
}

module_init(hlist_old_init);
module_exit(hlist_old_exit);
MODULE_LICENSE("GPL");
