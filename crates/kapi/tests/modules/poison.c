/* What AddressSanitizer has to see, and what it must not take for a fault: one for each value of `what`. */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/gfp.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/dmapool.h>
#include <linux/platform_device.h>

#define OBJECTS 500

static volatile int beyond = 17;

static char *what = "";
module_param(what, charp, 0);

static void construct(void *object)
{
	memset(object, 7, 100);
}

/* Pages of a constructed cache's slabs were another's before. */
static void constructed(void)
{
	struct kmem_cache *cache = kmem_cache_create("poison", 100, 0, 0, construct);
	static void *objects[OBJECTS];
	int round, i;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < OBJECTS; i++)
			objects[i] = kmem_cache_alloc(cache, GFP_KERNEL);
		for (i = 0; i < OBJECTS; i++)
			kmem_cache_free(cache, objects[i]);
		kmem_cache_shrink(cache);
		for (i = 0; i < OBJECTS; i++)
			objects[i] = kmalloc(200, GFP_KERNEL);
		for (i = 0; i < OBJECTS; i++)
			kfree(objects[i]);
	}
	kmem_cache_destroy(cache);
}

/* A reader may look at a free object of such a cache. */
static void typesafe(void)
{
	struct kmem_cache *cache = kmem_cache_create("poison", 64, 0, SLAB_TYPESAFE_BY_RCU, NULL);
	volatile char *object = kmem_cache_zalloc(cache, GFP_KERNEL);

	rcu_read_lock();
	kmem_cache_free(cache, (void *)object);
	pr_info("poison: %d\n", object[32] >= 0);
	rcu_read_unlock();
	kmem_cache_destroy(cache);
}

/* The runtime's own pages were the module's before. */
static void pages(void)
{
	struct platform_device *device = platform_device_register_simple("poison", 0, NULL, 0);
	unsigned long page[8];
	struct dma_pool *pool;
	dma_addr_t handle;
	void *block;
	int i;

	for (i = 0; i < 8; i++)
		page[i] = __get_free_pages(GFP_KERNEL, 4);
	for (i = 0; i < 8; i++)
		free_pages(page[i], 4);
	pool = dma_pool_create("poison", &device->dev, 64, 64, 0);
	block = dma_pool_alloc(pool, GFP_KERNEL, &handle);
	dma_pool_free(pool, block, handle);
	dma_pool_destroy(pool);
	platform_device_unregister(device);
}

static int faulty(void *object)
{
	kfree(object);
	return ((volatile char *)object)[5];
}

static int __init poison_init(void)
{
	char *object = kmalloc(40, GFP_KERNEL), text[16] = "fifteen letters", to[64];

	if (!strcmp(what, "constructed"))
		constructed();
	else if (!strcmp(what, "typesafe"))
		typesafe();
	else if (!strcmp(what, "pages"))
		pages();
	else if (!strcmp(what, "thread"))
		kthread_run(faulty, kmalloc(40, GFP_KERNEL), "faulty");
	else if (!strcmp(what, "memcpy"))
		memcpy(to, object, 41);
	else if (!strcmp(what, "memset"))
		memset(object, 0, 41);
	else if (!strcmp(what, "strlen"))
		pr_info("poison: %zu\n", strlen(memset(object, 'a', 40)));
	else if (!strcmp(what, "stack"))
		memset(text, 0, beyond);
	if (!strcmp(what, "thread"))
		msleep(20000); /* The fault ends it. */
	pr_info("poison: %c%c\n", text[0], to[0] ? 'y' : 'n');
	kfree(object);
	return 0;
}

static void __exit poison_exit(void)
{
}

module_init(poison_init);
module_exit(poison_exit);
MODULE_LICENSE("GPL");
