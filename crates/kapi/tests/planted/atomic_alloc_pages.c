// sleep in atomic context: alloc_pages() with GFP_KERNEL may sleep, under a spinlock
#include <linux/module.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);

static int __init begin(void)
{
	struct page *page;

	spin_lock(&lock);
	page = alloc_page(GFP_KERNEL); // in
	spin_unlock(&lock);
	__free_page(page);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
