/* Objects by how long ago they were used: those used lately get a second chance from the shrinker. */
#include <linux/list_lru.h>
#include <linux/module.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/version.h>

struct obj {
	int id;
	bool used;
	struct list_head lru;
};

static struct list_lru lru;
static struct kmem_cache *cache;

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
static enum lru_status isolate(struct list_head *item, struct list_lru_one *list, void *dispose)
#else
static enum lru_status isolate(struct list_head *item, struct list_lru_one *list, spinlock_t *lock, void *dispose)
#endif
{
	struct obj *obj = container_of(item, struct obj, lru);

	if (obj->used) {
		obj->used = false;
		return LRU_ROTATE;
	}
	list_lru_isolate_move(list, item, dispose);
	return LRU_REMOVED;
}

static void free_all(struct list_head *dispose)
{
	struct obj *obj, *next;

	list_for_each_entry_safe(obj, next, dispose, lru) {
		list_del(&obj->lru);
		kmem_cache_free(cache, obj);
	}
}

static unsigned long lru_count(struct shrinker *shrinker, struct shrink_control *sc)
{
	return list_lru_shrink_count(&lru, sc);
}

static unsigned long lru_scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	LIST_HEAD(dispose);
	unsigned long freed = list_lru_shrink_walk(&lru, sc, isolate, &dispose);

	free_all(&dispose);
	return freed;
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
static struct shrinker *shrinker;

static int shrinker_start(void)
{
	shrinker = shrinker_alloc(SHRINKER_NUMA_AWARE, "lru");
	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = lru_count;
	shrinker->scan_objects = lru_scan;
	shrinker_register(shrinker);
	return 0;
}

static void shrinker_stop(void) { shrinker_free(shrinker); }
#else
static struct shrinker shrinker = { .count_objects = lru_count, .scan_objects = lru_scan, .seeks = DEFAULT_SEEKS };

static int shrinker_start(void) { return register_shrinker(&shrinker, "lru"); }
static void shrinker_stop(void) { unregister_shrinker(&shrinker); }
#endif

static int add(int id)
{
	struct obj *obj = kmem_cache_zalloc(cache, GFP_KERNEL);

	if (!obj)
		return -ENOMEM;
	obj->id = id;
	obj->used = id % 4 == 0;
	INIT_LIST_HEAD(&obj->lru);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
	list_lru_add_obj(&lru, &obj->lru);
#else
	list_lru_add(&lru, &obj->lru);
#endif
	return 0;
}

static int __init lru_init(void)
{
	int i, error;

	cache = KMEM_CACHE(obj, 0);
	error = list_lru_init(&lru);
	for (i = 0; i < 1000 && !error; i++)
		error = add(i);
	if (!error)
		error = shrinker_start();
	pr_info("count %lu\n", list_lru_count_node(&lru, 0));
	return error;
}

static void __exit lru_exit(void)
{
	LIST_HEAD(dispose);

	pr_info("at exit %lu\n", list_lru_count_node(&lru, 0));
	shrinker_stop();
	while (list_lru_count_node(&lru, 0))
		list_lru_walk(&lru, isolate, &dispose, ULONG_MAX);
	free_all(&dispose);
	list_lru_destroy(&lru);
	kmem_cache_destroy(cache);
}
module_init(lru_init);
module_exit(lru_exit);
MODULE_LICENSE("GPL");
