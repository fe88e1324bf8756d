// Windows of a device's memory: a maple tree gives addresses out, and finds by any address what lies there.
#include <linux/maple_tree.h>
#include <linux/module.h>
#include <linux/slab.h>

#define BASE 0x10000UL
#define LAST 0x8ffffUL
#define PAGE 0x1000UL

static bool forgets;
module_param(forgets, bool, 0);

struct window {
	char name[16];
	unsigned long start;
	unsigned long bytes;
};

static struct maple_tree windows = MTREE_INIT(windows, MT_FLAGS_ALLOC_RANGE | MT_FLAGS_USE_RCU);
static DEFINE_MTREE(ids);

static struct window *window_new(const char *name, unsigned long bytes)
{
	struct window *window = kzalloc(sizeof(*window), GFP_KERNEL);
	int error;

	if (!window)
		return NULL;
	strscpy(window->name, name, sizeof(window->name));
	window->bytes = bytes;
	error = mtree_alloc_range(&windows, &window->start, window, bytes, BASE, LAST, GFP_KERNEL);
	if (error) {
		pr_info("windows: %s of %lu bytes: %d\n", name, bytes, error);
		kfree(window);
		return NULL;
	}
	return window;
}

static void tell(unsigned long address)
{
	struct window *window;

	rcu_read_lock();
	window = mtree_load(&windows, address);
	pr_info("windows: %#lx is %s\n", address, window ? window->name : "free");
	rcu_read_unlock();
}

static void list(const char *when)
{
	struct window *window;
	unsigned long index = 0;

	pr_info("windows: %s\n", when);
	mt_for_each(&windows, window, index, ULONG_MAX)
		pr_info("windows: %s at %#lx, %lu bytes\n", window->name, window->start, window->bytes);
}

/* The part of a window from @at on becomes one of its own. */
static void split(unsigned long at, const char *name)
{
	struct window *tail = kzalloc(sizeof(*tail), GFP_KERNEL), *head;
	MA_STATE(mas, &windows, at, at);

	if (!tail)
		return;
	mas_lock(&mas);
	head = mas_walk(&mas);
	strscpy(tail->name, name, sizeof(tail->name));
	tail->start = at;
	tail->bytes = mas.last - at + 1;
	head->bytes = at - head->start;
	mas_set_range(&mas, at, mas.last);
	pr_info("windows: split %d\n", mas_store_gfp(&mas, tail, GFP_KERNEL));
	mas_unlock(&mas);
}

static void gaps(void)
{
	MA_STATE(mas, &windows, 0, 0);

	mas_lock(&mas);
	pr_info("windows: highest gap %d", mas_empty_area_rev(&mas, BASE, LAST, 4 * PAGE));
	pr_cont(" at %#lx-%#lx\n", mas.index, mas.last);
	mas_set(&mas, 0x30000);
	mas_next(&mas, ULONG_MAX);
	pr_info("windows: behind 0x30000 at %#lx\n", mas.index);
	mas_prev(&mas, 0);
	pr_info("windows: before that at %#lx\n", mas.index);
	mas_unlock(&mas);
}

/* Ids that are not given out again at once. */
static void cyclic(void)
{
	unsigned long id, next = 0;
	int i, ret = 0;

	mt_init_flags(&ids, MT_FLAGS_ALLOC_RANGE);
	for (i = 0; i < 5; i++) {
		ret = mtree_alloc_cyclic(&ids, &id, &windows, 1, 3, &next, GFP_KERNEL);
		pr_info("ids: %d, %lu\n", ret, id);
		if (i >= 2)
			mtree_erase(&ids, id - 1 ? id - 1 : 3);
	}
	mtree_destroy(&ids);
}

static int __init start(void)
{
	struct window *window;

	window_new("registers", PAGE);
	window_new("ring", 0x10000);
	window_new("frames", 0x40000);
	window_new("too large", 0x80000);
	tell(BASE);
	tell(0x2fff0);
	tell(LAST);
	list("three");
	split(0x18000, "ring's end");
	window = mtree_erase(&windows, 0x11000);
	pr_info("windows: erased %s of %lu bytes\n", window->name, window->bytes);
	synchronize_rcu();
	kfree(window);
	window_new("small", 2 * PAGE);
	pr_info("windows: twice %d\n", mtree_insert_range(&windows, 0x12000, 0x30000, window, GFP_KERNEL));
	list("four");
	gaps();
	cyclic();
	return 0;
}

static void __exit stop(void)
{
	struct window *window;
	MA_STATE(mas, &windows, 0, 0);

	mas_lock(&mas);
	mas_for_each(&mas, window, ULONG_MAX)
		kfree(window);
	mas_unlock(&mas);
	if (!forgets)
		mtree_destroy(&windows);
}

module_init(start);
module_exit(stop);
MODULE_LICENSE("Dual MIT/GPL");
