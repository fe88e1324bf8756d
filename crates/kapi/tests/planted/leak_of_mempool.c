// leak
#include <linux/module.h>
#include <linux/mempool.h>

static mempool_t *pool;

static int __init begin(void)
{
	pool = mempool_create_kmalloc_pool(4, 100); // allocated by
	return pool ? 0 : -ENOMEM;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
