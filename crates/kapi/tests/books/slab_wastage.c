/* What a size costs, pages by every function, and a cache with a constructor that looks at its task, as a kernel book asks. */
#define pr_fmt(fmt) "%s:%s(): " fmt, KBUILD_MODNAME, __func__

#include <linux/cred.h>
#include <linux/init.h>
#include <linux/interrupt.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <asm/io.h>
#include <asm/page.h>

struct context {
	u32 words[10];
	u64 longs[10];
	char user[128], secret[16], config[64];
};

static unsigned int use_ctor = 1;
module_param(use_ctor, uint, 0);
MODULE_PARM_DESC(use_ctor, "whether the cache has a constructor");
static int constructed;

static void construct(void *new)
{
	struct task_struct *p = current;
	struct context *context = new;

	memset(context, 0, sizeof(*context));
	snprintf(context->config, sizeof(context->config), "%d.%d,%ld.%ld,%ld,%ld", p->tgid, p->pid, p->nvcsw, p->nivcsw,
		 p->min_flt, p->maj_flt);
	constructed++;
}

static void show_context(void)
{
	pr_debug("%03d) %c%s%c:%d | %c%c%c%u\n", raw_smp_processor_id(), current->mm ? ' ' : '[', current->comm,
		 current->mm ? ' ' : ']', current->pid, irqs_disabled() ? 'd' : '.', need_resched() ? 'N' : '.',
		 in_hardirq() ? 'h' : in_serving_softirq() ? 's' : '.', preempt_count() & 0xff);
}

static int use_pages(void)
{
	void *one = (void *)__get_free_page(GFP_KERNEL), *exact = alloc_pages_exact(5 * PAGE_SIZE + 10, GFP_KERNEL);
	unsigned long zeroed = get_zeroed_page(GFP_KERNEL);
	struct page *block = alloc_pages(GFP_KERNEL, 3);

	if (!one || !exact || !zeroed || !block)
		return -ENOMEM;
	pr_info("pages: valid %d, frame %d, same %d\n", virt_addr_valid(one),
		PHYS_PFN(virt_to_phys(one)) == page_to_pfn(virt_to_page(one)), page_address(block) == page_to_virt(block));
	memset(one, 'x', PAGE_SIZE);
	print_hex_dump_bytes("one: ", DUMP_PREFIX_OFFSET, one, 16);
	print_hex_dump_debug("one: ", DUMP_PREFIX_OFFSET, 16, 1, one, 16, true);
	__free_pages(block, 3);
	free_page(zeroed);
	free_pages_exact(exact, 5 * PAGE_SIZE + 10);
	free_page((unsigned long)one);
	return 0;
}

static int use_areas(void)
{
	void *area = vmalloc(10000), *either = kvmalloc(5 * 1024 * 1024, GFP_KERNEL);
	void *zeroed = vzalloc(100), *with_flags = __vmalloc(42 * PAGE_SIZE, GFP_KERNEL);

	if (!area || !either || !zeroed || !with_flags)
		return -ENOMEM;
	pr_info("areas: is vmalloc %d %d\n", is_vmalloc_addr(area), is_vmalloc_addr(zeroed));
	vfree(with_flags);
	vfree(zeroed);
	kvfree(either);
	vfree(area);
	return 0;
}

static int use_cache(void)
{
	struct kmem_cache *cache = kmem_cache_create("context", sizeof(struct context), sizeof(long),
						     SLAB_POISON | SLAB_RED_ZONE | SLAB_HWCACHE_ALIGN,
						     use_ctor ? construct : NULL);
	struct context *context;

	if (!cache)
		return -ENOMEM;
	context = kmem_cache_alloc(cache, GFP_KERNEL);
	if (!context)
		return -ENOMEM;
	pr_info("cache: %u bytes, constructed %d, config %d\n", kmem_cache_size(cache), constructed > 0,
		!use_ctor || strchr(context->config, '.') != NULL);
	kmem_cache_free(cache, context);
	kmem_cache_destroy(cache);
	return 0;
}

static int __init wastage_init(void)
{
	ktime_t begin = ktime_get();
	size_t size;
	int result;

	show_context();
	for (size = 100; size < 9000; size += 2200) {
		void *p = kmalloc(size, GFP_KERNEL);

		if (!p)
			return -ENOMEM;
		pr_info("kmalloc(%zu): %zu, wastage %zu%%\n", size, ksize(p), (ksize(p) - size) * 100 / ksize(p));
		kfree(p);
	}
	result = use_pages() ?: use_areas() ?: use_cache();
	if (ktime_us_delta(ktime_get(), begin) < 0)
		pr_warn_once("time goes back\n");
	return result;
}

static void __exit wastage_exit(void)
{
	pr_info("bye\n");
}

module_init(wastage_init);
module_exit(wastage_exit);
MODULE_LICENSE("Dual MIT/GPL");
