/* Pieces of page blocks, and blocks whose pages know their head. */
#include <linux/module.h>
#include <linux/mm.h>
#include <linux/gfp.h>
#include <linux/version.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6,13,0)
#include <linux/page_frag_cache.h>
#endif
static struct page_frag_cache nc;
static int leak; module_param(leak, int, 0);
static int __init f_init(void)
{
	void *p[200]; int i; struct page *c;
	for (i = 0; i < 200; i++) { p[i] = page_frag_alloc(&nc, 1000, GFP_KERNEL); if (!p[i]) return -ENOMEM; memset(p[i], i, 1000); }
	for (i = 0; i < 200; i++) { if (*(u8 *)p[i] != (u8)i) pr_err("bad %d\n", i); if (!leak || i != 100) page_frag_free(p[i]); }
	__page_frag_cache_drain(virt_to_head_page(nc.va), nc.pagecnt_bias);
	nc.va = NULL;
	c = alloc_pages(GFP_KERNEL | __GFP_COMP, 2);
	pr_info("%d %u %lu %d\n", PageCompound(c + 3), compound_order(c), page_size(c), compound_head(c + 3) == c);
	get_page(c + 1); put_page(c); pr_info("count %d\n", page_count(c + 2)); put_page(c + 3);
	c = alloc_pages(GFP_KERNEL, 2);
	pr_info("%d\n", PageCompound(c + 3));
	__free_pages(c, 2);
	return 0;
}
static void __exit f_exit(void) {}
module_init(f_init); module_exit(f_exit); MODULE_LICENSE("GPL");
