// double free: freed twice; page_pool of 4096 bytes
#include <linux/module.h>
#include <linux/version.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#include <net/page_pool/helpers.h>
#else
#include <net/page_pool.h>
#endif

static struct page_pool *pool;
static struct page *page;

static int __init begin(void)
{
	struct page_pool_params params = { .pool_size = 16, .nid = NUMA_NO_NODE };

	pool = page_pool_create(&params);
	if (IS_ERR(pool))
		return PTR_ERR(pool);
	page = page_pool_dev_alloc_pages(pool); // allocated by
	return page ? 0 : -ENOMEM;
}

static void __exit end(void)
{
	page_pool_put_full_page(pool, page, false); // freed before by
	page_pool_put_full_page(pool, page, false); // in
	page_pool_destroy(pool);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
