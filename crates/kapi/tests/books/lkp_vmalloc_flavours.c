/* Every function around vmalloc, with the ranges that their addresses lie in. */
#define pr_fmt(fmt) "%s:%s(): " fmt, KBUILD_MODNAME, __func__
#include <linux/init.h>
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/version.h>
#include <linux/vmalloc.h>
#include <asm/pgtable.h>

MODULE_LICENSE("Dual MIT/GPL");
static int kvnum = 5;
module_param(kvnum, int, 0660);
#define KVN_MIN_BYTES 16
#define KVN_MAX_BYTES (1024 * 1024)
#define DISP_BYTES 16

static void *vptr_rndm, *vptr_init, *kv, *kvarr, *vrx, *node, *area32;

static bool in_vmalloc(const void *p)
{
	return (unsigned long)p >= VMALLOC_START && (unsigned long)p < VMALLOC_END && is_vmalloc_addr(p);
}

static int vmalloc_try(void)
{
	void *grown;

	vptr_rndm = vmalloc(10000);
	vptr_init = vzalloc(10000);
	if (!vptr_rndm || !vptr_init)
		return -ENOMEM;
	pr_info("1. in the area %d, frame %d\n", in_vmalloc(vptr_rndm), pfn_valid(vmalloc_to_pfn(vptr_rndm)));
	print_hex_dump_bytes(" vptr_init: ", DUMP_PREFIX_NONE, vptr_init, DISP_BYTES);
	kv = kvmalloc(KVN_MAX_BYTES * 5, GFP_KERNEL);
	if (!kv)
		return -ENOMEM;
	memset(kv, 'k', DISP_BYTES);
	pr_info("3. kvmalloc of 5 MiB: vmalloc %d\n", is_vmalloc_addr(kv));
	grown = kvmalloc(KVN_MIN_BYTES, GFP_KERNEL);
	pr_info("   of 16: vmalloc %d, valid %d\n", is_vmalloc_addr(grown), virt_addr_valid(grown));
	kvfree(grown);
	kvarr = kvmalloc_array(kvnum, sizeof(u32), GFP_KERNEL);
	vrx = __vmalloc(42 * PAGE_SIZE, GFP_KERNEL | __GFP_ZERO);
	node = vmalloc_node(PAGE_SIZE, numa_node_id());
	area32 = vmalloc_32(PAGE_SIZE);
	if (!kvarr || !vrx || !node || !area32)
		return -ENOMEM;
	pr_info("4. array %d, flags %d, node %d, 32 %d\n", !is_vmalloc_addr(kvarr), in_vmalloc(vrx), in_vmalloc(node),
		in_vmalloc(area32));
	print_hex_dump_bytes(" vrx: ", DUMP_PREFIX_OFFSET, vrx, DISP_BYTES);
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
	grown = kvrealloc(kvarr, kvnum * sizeof(u32), 100000, GFP_KERNEL);
#else
	grown = kvrealloc(kvarr, 100000, GFP_KERNEL);
#endif
	if (!grown)
		return -ENOMEM;
	kvarr = grown;
	grown = kvcalloc(3, 7, GFP_KERNEL);
	pr_info("5. kvcalloc zeroed %d, array overflow %d\n", !memchr_inv(grown, 0, 21),
		kvmalloc_array(SIZE_MAX, 2, GFP_KERNEL) == NULL);
	kvfree_sensitive(grown, 21);
	return 0;
}

/* Pages of different places, seen as one. */
static int vmap_try(void)
{
	struct page *pages[3];
	char *seen;
	int i;

	for (i = 0; i < 3; i++) {
		pages[i] = alloc_page(GFP_KERNEL);
		if (!pages[i])
			return -ENOMEM;
		*(char *)page_address(pages[i]) = (char)('a' + i);
	}
	seen = vmap(pages, 3, VM_MAP, PAGE_KERNEL);
	if (!seen)
		return -ENOMEM;
	pr_info("6. vmap: %c%c%c, its page %d\n", seen[0], seen[PAGE_SIZE], seen[2 * PAGE_SIZE],
		vmalloc_to_page(seen + PAGE_SIZE) == pages[1]);
	vunmap(seen);
	for (i = 0; i < 3; i++)
		__free_page(pages[i]);
	return 0;
}

static int __init vmalloc_demo_init(void)
{
	return vmalloc_try() ?: vmap_try();
}

static void __exit vmalloc_demo_exit(void)
{
	vfree(area32);
	vfree(node);
	vfree(vrx);
	kvfree(kvarr);
	kvfree(kv);
	vfree(vptr_init);
	vfree(vptr_rndm);
	pr_info("removed\n");
}

module_init(vmalloc_demo_init);
module_exit(vmalloc_demo_exit);
