/* Every macro of shrinkers, lists by use, pools, blocks of pages, counters and sleepable read-copy-update. */
#include <linux/gfp.h>
#include <linux/list_lru.h>
#include <linux/mempool.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/page_frag_cache.h>
#include <linux/percpu_counter.h>
#include <linux/sched.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/srcu.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "check.h"

static unsigned long count(struct shrinker *shrinker, struct shrink_control *sc) { return 0; }
static unsigned long scan(struct shrinker *shrinker, struct shrink_control *sc) { return SHRINK_STOP; }
static struct shrinker shrinker = { .count_objects = count, .scan_objects = scan, .seeks = DEFAULT_SEEKS };

static void shrinkers(void)
{
	unsigned int io = memalloc_noio_save(), fs = memalloc_nofs_save(), reclaim = memalloc_noreclaim_save();

	IS(current->flags & PF_MEMALLOC, PF_MEMALLOC);
	memalloc_noreclaim_restore(reclaim);
	memalloc_nofs_restore(fs);
	memalloc_noio_restore(io);
	IS(current->flags & PF_MEMALLOC_NOFS, 0);
	IS(register_shrinker(&shrinker, "one-%d", 1), 0);
	unregister_shrinker(&shrinker);
	IS(prealloc_shrinker(&shrinker, "two"), 0);
	register_shrinker_prepared(&shrinker);
	unregister_shrinker(&shrinker);
}

static enum lru_status skip(struct list_head *item, struct list_lru_one *list, spinlock_t *lock, void *arg)
{
	return LRU_SKIP;
}

static void lists(void)
{
	struct list_lru lru;
	LIST_HEAD(item);
	unsigned long nr = 10;
	struct shrink_control sc = { .nr_to_scan = 1 };

	IS(list_lru_init_memcg(&lru, &shrinker), 0);
	IS(list_lru_add(&lru, &item), 1);
	IS(list_lru_add(&lru, &item, 0, NULL), 0);
	IS(list_lru_count_node(&lru, 0) + list_lru_count_one(&lru, 0, NULL), 2);
	IS(list_lru_shrink_count(&lru, &sc), 1);
	IS(list_lru_walk_one(&lru, 0, NULL, skip, NULL, &nr), 0);
	IS(list_lru_walk_one_irq(&lru, 0, NULL, skip, NULL, &nr), 0);
	IS(nr, 8);
	IS(list_lru_del(&lru, &item), 1);
	IS(list_lru_del(&lru, &item, 0, NULL), 0);
	list_lru_destroy(&lru);
}

static void pools(void)
{
	struct kmem_cache *cache = kmem_cache_create("every_reclaim", 32, 0, 0, NULL);
	mempool_t pool = { };

	IS(mempool_initialized(&pool), 0);
	IS(mempool_init_slab_pool(&pool, 2, cache), 0);
	IS(mempool_initialized(&pool), 1);
	mempool_exit(&pool);
	IS(mempool_init_kmalloc_pool(&pool, 2, 64), 0);
	mempool_exit(&pool);
	IS(mempool_init_kvmalloc_pool(&pool, 1, 8 << 20), 0);
	mempool_exit(&pool);
	IS(mempool_init_page_pool(&pool, 2, 1), 0);
	mempool_exit(&pool);
	kmem_cache_destroy(cache);
}

static void blocks(void)
{
	struct page *pages[3] = { }, *block = alloc_pages(GFP_KERNEL | __GFP_COMP, 1);
	struct page_frag_cache nc = { };
	void *area = vmalloc_huge(5 << 20, GFP_KERNEL), *node = vmalloc_huge_node(4096, GFP_KERNEL, NUMA_NO_NODE);
	char *copy, *zeroed = kcalloc_node(2, 4, GFP_KERNEL, NUMA_NO_NODE);
	mm_segment_t before = get_fs();
	int i;

	set_fs(KERNEL_DS);
	copy = memdup_array_user("ab", 3, 1);
	set_fs(before);
	IS(PageHead(block) + PageTail(block), 1);
	IS(PageHead(block + 1) + PageTail(block + 1), 1);
	IS(PageCompound(block + 1), 1);
	page_ref_add(block, 3);
	page_ref_inc(block);
	page_ref_sub(block, 3);
	page_ref_dec(block);
	IS(page_ref_count(block), 1);
	__free_pages(block, 1);
	IS(alloc_pages_bulk_array(GFP_KERNEL, 1, pages), 1);
	IS(alloc_pages_bulk_array_node(GFP_KERNEL, 0, 2, pages), 2);
	IS(alloc_pages_bulk_node(GFP_KERNEL, 0, 3, pages), 3);
	for (i = 0; i < 3; i++)
		__free_page(pages[i]);
	IS(page_frag_cache_is_pfmemalloc(&nc), false);
	IS(strcmp(copy, "ab") + zeroed[7], 0);
	kfree(zeroed);
	kfree(copy);
	vfree(area);
	vfree(node);
}

DEFINE_SRCU(sleepy);
DEFINE_STATIC_SRCU(quiet);

static void counts(void)
{
	struct percpu_counter counter;
	int value = 3, *pointer = &value, index = srcu_read_lock(&sleepy);

	IS(*srcu_dereference(pointer, &sleepy) + *srcu_dereference_check(pointer, &sleepy, 1), 6);
	IS(srcu_read_lock_held(&sleepy), 1);
	srcu_read_unlock(&sleepy, index);
	synchronize_srcu_expedited(&quiet);
	IS(percpu_counter_init(&counter, 7, GFP_KERNEL), 0);
	IS(percpu_counter_sum(&counter), 7);
	percpu_counter_destroy(&counter);
}

static int __init every_init(void)
{
	shrinkers();
	lists();
	pools();
	blocks();
	counts();
	return result();
}

static void __exit every_exit(void)
{
}
module_init(every_init);
module_exit(every_exit);
MODULE_LICENSE("GPL");
