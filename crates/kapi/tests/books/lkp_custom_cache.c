/* A cache of the module's own with a constructor and a shrinker that gives its spare objects back. */
#define pr_fmt(fmt) "%s:%s(): " fmt, KBUILD_MODNAME, __func__
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/version.h>

#define OURCACHENAME "our_ctx"
MODULE_LICENSE("Dual MIT/GPL");

static int use_ctor = 1;
module_param(use_ctor, uint, 0);

struct myctx {
	u32 iarr[10];
	u64 uarr[10];
	char uname[128], passwd[16], config[64];
	struct list_head spare;
};

static struct kmem_cache *gctx_cachep;
static LIST_HEAD(spares);
static DEFINE_SPINLOCK(spares_lock);
static unsigned long nspares;
static int constructed;

static void our_ctor(void *new)
{
	struct myctx *ctx = new;
	struct task_struct *p = current;

	memset(ctx, 0, sizeof(struct myctx));
	snprintf(ctx->config, 6 * sizeof(u64) + 5, "%d.%d,%ld.%ld,%ld,%ld", p->tgid, p->pid, p->nvcsw, p->nivcsw, p->min_flt,
		 p->maj_flt);
	constructed++;
}

static unsigned long count_spares(struct shrinker *shrinker, struct shrink_control *sc)
{
	return READ_ONCE(nspares) ?: SHRINK_EMPTY;
}

static unsigned long scan_spares(struct shrinker *shrinker, struct shrink_control *sc)
{
	struct myctx *ctx, *next;
	unsigned long freed = 0;

	spin_lock(&spares_lock);
	list_for_each_entry_safe(ctx, next, &spares, spare) {
		if (freed == sc->nr_to_scan)
			break;
		list_del(&ctx->spare);
		kmem_cache_free(gctx_cachep, ctx);
		nspares--;
		freed++;
	}
	spin_unlock(&spares_lock);
	return freed ?: SHRINK_STOP;
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
static struct shrinker our_shrinker = {
	.count_objects = count_spares, .scan_objects = scan_spares, .seeks = DEFAULT_SEEKS,
};

static int add_shrinker(void)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 0, 0)
	return register_shrinker(&our_shrinker);
#else
	return register_shrinker(&our_shrinker, "our-%s", OURCACHENAME);
#endif
}

static void remove_shrinker(void)
{
	unregister_shrinker(&our_shrinker);
}
#else
static struct shrinker *our_shrinker;

static int add_shrinker(void)
{
	our_shrinker = shrinker_alloc(0, "our-%s", OURCACHENAME);
	if (!our_shrinker)
		return -ENOMEM;
	our_shrinker->count_objects = count_spares;
	our_shrinker->scan_objects = scan_spares;
	our_shrinker->seeks = DEFAULT_SEEKS;
	shrinker_register(our_shrinker);
	return 0;
}

static void remove_shrinker(void)
{
	shrinker_free(our_shrinker);
}
#endif

static int use_our_cache(void)
{
	void *many[8];
	struct myctx *obj;
	int i, got = 0;

	pr_info("cache \"%s\": object size %u, one takes %zu at least %d\n", OURCACHENAME, kmem_cache_size(gctx_cachep),
		sizeof(struct myctx), kmem_cache_size(gctx_cachep) >= sizeof(struct myctx));
	obj = kmem_cache_alloc(gctx_cachep, GFP_KERNEL);
	if (!obj)
		return -ENOMEM;
	print_hex_dump_bytes("obj: ", DUMP_PREFIX_OFFSET, obj, 16);
	pr_info("constructed %d, config %d\n", constructed > 0, strchr(obj->config, ',') != NULL);
	kmem_cache_free(gctx_cachep, obj);
	if (kmem_cache_alloc_bulk(gctx_cachep, GFP_KERNEL, ARRAY_SIZE(many), many))
		got = ARRAY_SIZE(many);
	spin_lock(&spares_lock);
	for (i = 0; i < got; i++, nspares++)
		list_add(&((struct myctx *)many[i])->spare, &spares);
	spin_unlock(&spares_lock);
	pr_info("bulk: %d\n", got);
	return 0;
}

static int create_our_cache(void)
{
	void (*ctor)(void *) = use_ctor == 1 ? our_ctor : NULL;

	gctx_cachep = kmem_cache_create(OURCACHENAME, sizeof(struct myctx), sizeof(long),
					SLAB_POISON | SLAB_RED_ZONE | SLAB_HWCACHE_ALIGN, ctor);
	if (IS_ERR_OR_NULL(gctx_cachep)) {
		pr_warn("kmem_cache_create() failed\n");
		return -ENOMEM;
	}
	return 0;
}

static int __init slab_custom_init(void)
{
	int result = create_our_cache();

	if (result)
		return result;
	result = add_shrinker();
	if (!result)
		result = use_our_cache();
	if (result)
		kmem_cache_destroy(gctx_cachep);
	return result;
}

static void __exit slab_custom_exit(void)
{
	struct shrink_control sc = { .gfp_mask = GFP_KERNEL, .nr_to_scan = 5 };
	unsigned long before = count_spares(NULL, &sc), freed = scan_spares(NULL, &sc);

	pr_info("scan: %lu of %lu\n", freed, before);
	remove_shrinker();
	sc.nr_to_scan = 100;
	freed = scan_spares(NULL, &sc);
	pr_info("the rest: %lu, then stop %d\n", freed, scan_spares(NULL, &sc) == SHRINK_STOP);
	kmem_cache_shrink(gctx_cachep);
	kmem_cache_destroy(gctx_cachep);
}

module_init(slab_custom_init);
module_exit(slab_custom_exit);
