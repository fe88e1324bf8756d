// left behind: the shrinker `count` is still there
#include <linux/module.h>
#include <linux/shrinker.h>

static unsigned long count(struct shrinker *shrinker, struct shrink_control *sc)
{
	return 0;
}

static unsigned long scan(struct shrinker *shrinker, struct shrink_control *sc)
{
	return SHRINK_STOP;
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
static struct shrinker shrinker = { .count_objects = count, .scan_objects = scan, .seeks = DEFAULT_SEEKS };
#endif

static int __init begin(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	struct shrinker *shrinker = shrinker_alloc(0, "planted"); // allocated by: since 6.7

	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = count;
	shrinker->scan_objects = scan;
	shrinker_register(shrinker); // in: since 6.7
	return 0;
#else
	return register_shrinker(&shrinker, "planted"); // in: before 6.7
#endif
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
