/* Objects by how long ago they were used: those used lately get a second chance from the shrinker. */
#include <linux/module.h>
#include <linux/list_lru.h>
#include <linux/slab.h>
#include <linux/shrinker.h>
#include <linux/version.h>
struct obj { int id; bool ref; struct list_head lru; };
static struct list_lru lru;
static struct kmem_cache *cache;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6,13,0)
static enum lru_status iso(struct list_head *item, struct list_lru_one *l, void *arg)
#else
static enum lru_status iso(struct list_head *item, struct list_lru_one *l, spinlock_t *lock, void *arg)
#endif
{
	struct obj *o = container_of(item, struct obj, lru);
	if (o->ref) { o->ref = false; return LRU_ROTATE; }
	list_lru_isolate_move(l, item, arg);
	return LRU_REMOVED;
}
static unsigned long cnt(struct shrinker *s, struct shrink_control *sc) { return list_lru_shrink_count(&lru, sc); }
static unsigned long scn(struct shrinker *s, struct shrink_control *sc)
{
	LIST_HEAD(dispose); struct obj *o, *n; unsigned long f;
	f = list_lru_shrink_walk(&lru, sc, iso, &dispose);
	list_for_each_entry_safe(o, n, &dispose, lru) { list_del(&o->lru); kmem_cache_free(cache, o); }
	return f;
}
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6,7,0)
static struct shrinker *sh;
#else
static struct shrinker sh = { .count_objects = cnt, .scan_objects = scn, .seeks = DEFAULT_SEEKS };
#endif
static int __init lru_init(void)
{
	int i;
	cache = KMEM_CACHE(obj, 0);
	if (list_lru_init(&lru)) return -ENOMEM;
	for (i = 0; i < 1000; i++) {
		struct obj *o = kmem_cache_zalloc(cache, GFP_KERNEL);
		o->id = i; o->ref = i % 4 == 0; INIT_LIST_HEAD(&o->lru);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6,8,0)
		list_lru_add_obj(&lru, &o->lru);
#else
		list_lru_add(&lru, &o->lru);
#endif
	}
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6,7,0)
	sh = shrinker_alloc(SHRINKER_NUMA_AWARE, "lru"); sh->count_objects = cnt; sh->scan_objects = scn; shrinker_register(sh);
#else
	if (register_shrinker(&sh, "lru")) return -ENOMEM;
#endif
	pr_info("count %lu\n", list_lru_count_node(&lru, 0));
	return 0;
}
static void __exit lru_exit(void)
{
	LIST_HEAD(dispose); struct obj *o, *n;
	pr_info("at exit %lu\n", list_lru_count_node(&lru, 0));
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6,7,0)
	shrinker_free(sh);
#else
	unregister_shrinker(&sh);
#endif
	while (list_lru_count_node(&lru, 0)) list_lru_walk(&lru, iso, &dispose, ULONG_MAX);
	list_for_each_entry_safe(o, n, &dispose, lru) { list_del(&o->lru); kmem_cache_free(cache, o); }
	list_lru_destroy(&lru);
	kmem_cache_destroy(cache);
}
module_init(lru_init); module_exit(lru_exit); MODULE_LICENSE("GPL");
