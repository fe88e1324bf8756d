// SPDX-License-Identifier: GPL-2.0-only
/*
 * slabpeak: how much memory did slabs take at most, and how much of it was in
 * use then?
 *
 * Every slab, and every block of kmalloc() that is no slab, is added and taken
 * off by mod_node_page_state(). A probe there sees each change, so the peak is
 * no sample. The kernel's events of allocations and frees say how many bytes of
 * objects were had since the module was loaded: objects that wait to be used
 * again, on a CPU or in a slab, are in the one and not in the other.
 */
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/ptrace.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/tracepoint.h>
#include <linux/vmstat.h>

#include <trace/events/kmem.h>

static bool objects = true;
module_param(objects, bool, 0444);
MODULE_PARM_DESC(objects, "count bytes of objects, too; takes more time");

static unsigned long base, peak, in_use;
module_param(base, ulong, 0444);
MODULE_PARM_DESC(base, "bytes of slabs when the module was loaded");
module_param(peak, ulong, 0444);
MODULE_PARM_DESC(peak, "bytes of slabs at the peak since then");
module_param(in_use, ulong, 0444);
MODULE_PARM_DESC(in_use, "bytes of objects allocated since then, at the peak");

static DEFINE_RAW_SPINLOCK(lock);	/* Slabs, and the three above */
static long slabs;
static atomic_long_t had;

static int slabpeak_changed(struct kprobe *probe, struct pt_regs *regs)
{
	int item = (int)regs_get_kernel_argument(regs, 1);
	unsigned long flags;

	if (item != NR_SLAB_RECLAIMABLE_B && item != NR_SLAB_UNRECLAIMABLE_B)
		return 0;
	/* Whoever sees a peak says what was in use then, before another CPU goes on. */
	raw_spin_lock_irqsave(&lock, flags);
	slabs += (long)regs_get_kernel_argument(regs, 2);
	if (slabs > (long)peak) {
		peak = slabs;
		in_use = max(atomic_long_read(&had), 0L);
	}
	raw_spin_unlock_irqrestore(&lock, flags);
	return 0;
}

static struct kprobe slabpeak_probe = {
	.symbol_name = "mod_node_page_state",
	.pre_handler = slabpeak_changed,
};

static void slabpeak_add(const void *object)
{
	if (object)
		atomic_long_add(ksize(object), &had);
}

static void slabpeak_take(const void *object)
{
	if (object)
		atomic_long_sub(ksize(object), &had);
}

static void on_kmalloc(void *unused, unsigned long site, const void *object,
		       size_t req, size_t alloc, gfp_t gfp, int node)
{
	slabpeak_add(object);
}

static void on_alloc(void *unused, unsigned long site, const void *object,
		     struct kmem_cache *s, gfp_t gfp, int node)
{
	slabpeak_add(object);
}

static void on_kfree(void *unused, unsigned long site, const void *object)
{
	slabpeak_take(object);
}

static void on_free(void *unused, unsigned long site, const void *object,
		    const struct kmem_cache *s)
{
	slabpeak_take(object);
}

static int slabpeak_register(void)
{
	int err = register_trace_kmalloc(on_kmalloc, NULL);

	if (err)
		return err;
	err = register_trace_kmem_cache_alloc(on_alloc, NULL);
	if (err)
		goto no_alloc;
	err = register_trace_kfree(on_kfree, NULL);
	if (err)
		goto no_kfree;
	err = register_trace_kmem_cache_free(on_free, NULL);
	if (!err)
		return 0;

	unregister_trace_kfree(on_kfree, NULL);
no_kfree:
	unregister_trace_kmem_cache_alloc(on_alloc, NULL);
no_alloc:
	unregister_trace_kmalloc(on_kmalloc, NULL);
	tracepoint_synchronize_unregister();
	return err;
}

static void slabpeak_unregister(void)
{
	unregister_trace_kmem_cache_free(on_free, NULL);
	unregister_trace_kfree(on_kfree, NULL);
	unregister_trace_kmem_cache_alloc(on_alloc, NULL);
	unregister_trace_kmalloc(on_kmalloc, NULL);
	tracepoint_synchronize_unregister();
}

/* Pages of slabs, with what CPUs have not added to the sums yet. */
static unsigned long slab_pages(void)
{
	static const enum node_stat_item items[] = {
		NR_SLAB_RECLAIMABLE_B, NR_SLAB_UNRECLAIMABLE_B
	};
	long pages = 0;
	int i, node, cpu;

	for (i = 0; i < ARRAY_SIZE(items); i++) {
		pages += atomic_long_read(&vm_node_stat[items[i]]);
		for_each_online_node(node)
			for_each_online_cpu(cpu)
				pages += per_cpu_ptr(NODE_DATA(node)->per_cpu_nodestats,
						     cpu)->vm_node_stat_diff[items[i]];
	}
	return max(pages, 0L);
}

static int __init slabpeak_init(void)
{
	int err = objects ? slabpeak_register() : 0;

	if (err)
		return err;
	base = slab_pages() << PAGE_SHIFT;
	peak = base;
	slabs = base;
	err = register_kprobe(&slabpeak_probe);
	if (err && objects)
		slabpeak_unregister();
	return err;
}

static void __exit slabpeak_exit(void)
{
	unregister_kprobe(&slabpeak_probe);
	if (objects)
		slabpeak_unregister();
	pr_info("slabpeak: base=%lu peak=%lu in_use=%lu\n", base, peak, in_use);
}

module_init(slabpeak_init);
module_exit(slabpeak_exit);
MODULE_DESCRIPTION("Memory of slabs at the peak, by every change of it");
MODULE_LICENSE("GPL");
