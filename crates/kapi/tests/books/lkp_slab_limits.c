/* How much one call of kmalloc gives: steps up to where it fails, and what each size really takes. */
#define pr_fmt(fmt) "%s:%s(): " fmt, KBUILD_MODNAME, __func__
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <linux/mmzone.h>

MODULE_LICENSE("Dual MIT/GPL");
static int stepsz = 2000000;
module_param(stepsz, int, 0644);
MODULE_PARM_DESC(stepsz, "bytes by which each allocation is larger (default=2000000)");

static int test_maxallocsz(void)
{
	size_t size2alloc = 0;
	void *p;

	while (1) {
		p = kmalloc(size2alloc, GFP_KERNEL | __GFP_NOWARN);
		if (!p) {
			pr_alert("kmalloc fail, size2alloc=%zu\n", size2alloc);
			return -ENOMEM;
		}
		pr_info("kmalloc(%7zu) = fine\n", size2alloc);
		kfree(p);
		size2alloc += stepsz;
	}
	return 0;
}

static int __init slab_limits_init(void)
{
	static const size_t sizes[] = { 8, 9, 96, 97, 192, 193, 1024, 8192, 8193 };
	int i;

	pr_info("max size %lu, max cache size %lu, minimum %d, max order %d\n", KMALLOC_MAX_SIZE, KMALLOC_MAX_CACHE_SIZE,
		KMALLOC_MIN_SIZE, get_order(KMALLOC_MAX_SIZE));
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		void *p = kzalloc(sizes[i], GFP_KERNEL);

		if (!p)
			return -ENOMEM;
		pr_info("%5zu takes %5zu, power of 2 %d, order %d\n", sizes[i], ksize(p), is_power_of_2(ksize(p)),
			get_order(sizes[i]));
		kfree(p);
	}
	return test_maxallocsz();
}

static void __exit slab_limits_exit(void)
{
	pr_info("removed\n");
}

module_init(slab_limits_init);
module_exit(slab_limits_exit);
