// sleep in atomic context: mempool_alloc() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/mempool.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);

static int __init begin(void)
{
	mempool_t *pool = mempool_create_kmalloc_pool(2, 64);
	void *element;

	if (!pool)
		return -ENOMEM;
	spin_lock(&lock);
	element = mempool_alloc(pool, GFP_KERNEL); // in
	spin_unlock(&lock);
	mempool_free(element, pool);
	mempool_destroy(pool);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
