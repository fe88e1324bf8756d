/* Threads that create, use and destroy caches of their own at the same time. */
#include <linux/completion.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>

#define THREADS 4
static int rounds = 150;
module_param(rounds, int, 0);
static DECLARE_COMPLETION(done);
static atomic_t failed = ATOMIC_INIT(0);

static int create_and_destroy(void *data)
{
	int i;

	for (i = 0; i < rounds; i++) {
		char name[32];
		struct kmem_cache *cache;
		void *object;

		snprintf(name, sizeof(name), "race-%ld-%d", (long)data, i);
		cache = kmem_cache_create(name, 40 + 8 * (long)data, 0, 0, NULL);
		object = cache ? kmem_cache_alloc(cache, GFP_KERNEL) : NULL;
		if (object)
			kmem_cache_free(cache, object);
		else
			atomic_inc(&failed);
		kmem_cache_destroy(cache);
	}
	complete(&done);
	return 0;
}

static int __init caches_race_init(void)
{
	long i;

	for (i = 0; i < THREADS; i++)
		kthread_run(create_and_destroy, (void *)i, "race/%ld", i);
	for (i = 0; i < THREADS; i++)
		wait_for_completion(&done);
	printk(KERN_INFO "caches_race: %d failed\n", atomic_read(&failed));
	return 0;
}

static void __exit caches_race_exit(void)
{
}
module_init(caches_race_init);
module_exit(caches_race_exit);
MODULE_LICENSE("GPL");
