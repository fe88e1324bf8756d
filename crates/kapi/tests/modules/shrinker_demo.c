/* A cache of blocks that a shrinker empties: it takes all memory and goes on, because blocks are given back. */
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/version.h>

struct block {
	struct list_head lru;
	char data[4000];
};

static LIST_HEAD(blocks);
static DEFINE_SPINLOCK(blocks_lock);
static unsigned long nr, scans, most;
static bool keep;
module_param(keep, bool, 0);

static unsigned long blocks_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	return keep ? SHRINK_EMPTY : nr;
}

static unsigned long blocks_scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	unsigned long freed = 0;

	if (!(sc->gfp_mask & __GFP_FS))
		return SHRINK_STOP;
	spin_lock(&blocks_lock);
	while (freed < sc->nr_to_scan && !list_empty(&blocks)) {
		struct block *block = list_first_entry(&blocks, struct block, lru);

		list_del(&block->lru);
		kfree(block);
		nr--;
		freed++;
	}
	spin_unlock(&blocks_lock);
	scans++;
	return freed;
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
static struct shrinker *shrinker;

static int shrinker_start(void)
{
	shrinker = shrinker_alloc(0, "demo-%s", "blocks");
	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = blocks_count;
	shrinker->scan_objects = blocks_scan;
	shrinker_register(shrinker);
	return 0;
}

static void shrinker_stop(void) { shrinker_free(shrinker); }
#else
static struct shrinker shrinker = { .count_objects = blocks_count, .scan_objects = blocks_scan, .seeks = DEFAULT_SEEKS };

static int shrinker_start(void) { return register_shrinker(&shrinker, "demo-%s", "blocks"); }
static void shrinker_stop(void) { unregister_shrinker(&shrinker); }
#endif

static int add_block(gfp_t gfp)
{
	struct block *block = kmalloc(sizeof(*block), gfp);

	if (!block)
		return -ENOMEM;
	spin_lock(&blocks_lock);
	list_add_tail(&block->lru, &blocks);
	most = max(most, ++nr);
	spin_unlock(&blocks_lock);
	return 0;
}

static int __init demo_init(void)
{
	unsigned long i, total = totalram_pages();
	int error = shrinker_start();

	for (i = 0; i < total + total / 2 && !error; i++)
		error = add_block(GFP_KERNEL);
	pr_info("filled %d, shrunk %d, nearly all memory %d\n", error, scans > 0, most > total * 3 / 4);
	scans = 0;
	for (error = 0, i = 0; i < total && !error; i++)
		error = add_block(GFP_NOFS);
	pr_info("without FS %d, shrunk %lu\n", error, scans);
	for (error = 0, i = 0; i < total && !error; i++)
		error = add_block(GFP_ATOMIC);
	pr_info("atomic %d, shrunk %lu\n", error, scans);
	return 0;
}

static void __exit demo_exit(void)
{
	struct shrink_control sc = { .gfp_mask = GFP_KERNEL, .nr_to_scan = ULONG_MAX };

	pr_info("left %lu\n", nr);
	blocks_scan(NULL, &sc);
	shrinker_stop();
}
module_init(demo_init);
module_exit(demo_exit);
MODULE_LICENSE("GPL");
