/* Pieces of page blocks, and blocks whose pages know their head. */
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/version.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#include <linux/page_frag_cache.h>
#endif

#define PIECES 200

static struct page_frag_cache nc;
static int leak;
module_param(leak, int, 0);

static int __init f_init(void)
{
	void *pieces[PIECES];
	struct page *block;
	int i;

	for (i = 0; i < PIECES; i++) {
		pieces[i] = page_frag_alloc(&nc, 1000, GFP_KERNEL);
		if (!pieces[i])
			return -ENOMEM;
		memset(pieces[i], i, 1000);
	}
	for (i = 0; i < PIECES; i++) {
		if (*(u8 *)pieces[i] != (u8)i)
			pr_err("bad %d\n", i);
		if (!leak || i != 100)
			page_frag_free(pieces[i]);
	}
	__page_frag_cache_drain(virt_to_head_page(nc.va), nc.pagecnt_bias);
	nc.va = NULL;
	block = alloc_pages(GFP_KERNEL | __GFP_COMP, 2);
	pr_info("%d %u %lu %d\n", PageCompound(block + 3), compound_order(block), page_size(block),
		compound_head(block + 3) == block);
	get_page(block + 1);
	put_page(block);
	pr_info("count %d\n", page_count(block + 2));
	put_page(block + 3);
	block = alloc_pages(GFP_KERNEL, 2);
	pr_info("%d\n", PageCompound(block + 3));
	__free_pages(block, 2);
	return 0;
}

static void __exit f_exit(void)
{
}
module_init(f_init);
module_exit(f_exit);
MODULE_LICENSE("GPL");
