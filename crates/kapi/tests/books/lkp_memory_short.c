/* What happens when memory is short: flags that give up early, a pool that does not, and an OOM notifier. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/mempool.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/oom.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

MODULE_LICENSE("Dual MIT/GPL");

struct block {
	struct block *next;
};

static int was_short;

static int oom_comes(struct notifier_block *nb, unsigned long unused, void *freed)
{
	was_short++;
	return NOTIFY_OK;
}

static struct notifier_block oom_block = { .notifier_call = oom_comes };

static int take_all(gfp_t flags)
{
	struct block *first = NULL, *block;
	int taken = 0;

	while ((block = (struct block *)__get_free_pages(flags, 4))) {
		block->next = first;
		first = block;
		taken++;
	}
	while (first) {
		block = first;
		first = first->next;
		free_pages((unsigned long)block, 4);
	}
	return taken;
}

static int __init short_init(void)
{
	mempool_t *pool = mempool_create_kmalloc_pool(2, 256);
	unsigned int noio;
	void *a, *b, *c;
	int taken, result = register_oom_notifier(&oom_block);

	if (!pool || result)
		return -ENOMEM;
	taken = take_all(GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN);
	pr_info("no retry: many %d\n", taken > 100);
	pr_info("may fail: as many %d\n", take_all(GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN) + 32 > taken);
	pr_info("no wait: %d\n", take_all(GFP_NOWAIT | __GFP_NOWARN) > 0);
	a = mempool_alloc(pool, GFP_KERNEL);
	b = mempool_alloc(pool, GFP_KERNEL);
	c = mempool_alloc(pool, GFP_NOWAIT);
	pr_info("pool: %d %d %d, at least %d\n", a != NULL, b != NULL, c != NULL, pool->min_nr);
	if (a)
		mempool_free(a, pool);
	if (b)
		mempool_free(b, pool);
	if (c)
		mempool_free(c, pool);
	mempool_destroy(pool);
	noio = memalloc_noio_save();
	pr_info("without I/O: %d\n", !!(current->flags & PF_MEMALLOC_NOIO));
	memalloc_noio_restore(noio);
	pr_info("pages in all %d, free %d\n", totalram_pages() > 0, nr_free_pages() <= totalram_pages());
	return 0;
}

static void __exit short_exit(void)
{
	unregister_oom_notifier(&oom_block);
	pr_info("OOM was told %d times\n", was_short);
}

module_init(short_init);
module_exit(short_exit);
