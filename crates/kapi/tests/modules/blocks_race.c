/* Threads that allocate from every interface at once, and find in each block what they wrote. */
#include <linux/completion.h>
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#define THREADS 8
#define BLOCKS 64
static int rounds = 20000;
module_param(rounds, int, 0);
static DECLARE_COMPLETION(done);
static atomic_t changed = ATOMIC_INIT(0), refused = ATOMIC_INIT(0);

struct block {
	u8 *bytes;
	size_t size;
};

static void give(struct block *block, int kind, size_t size, u8 mark)
{
	block->size = kind == 1 ? 3 * size : size;
	block->bytes = kind == 0 ? vmalloc(block->size) :
		       kind == 1 ? alloc_pages_exact(block->size, GFP_KERNEL) :
				   kmalloc(block->size, GFP_KERNEL);
	if (block->bytes)
		memset(block->bytes, mark, block->size);
	else
		atomic_inc(&refused);
}

static void take(struct block *block, int kind, u8 mark)
{
	if (memchr_inv(block->bytes, mark, block->size))
		atomic_inc(&changed);
	if (kind == 0)
		vfree(block->bytes);
	else if (kind == 1)
		free_pages_exact(block->bytes, block->size);
	else
		kfree(block->bytes);
	block->bytes = NULL;
}

static int allocate(void *data)
{
	static struct block all[THREADS][BLOCKS];
	struct block *blocks = all[(long)data];
	u8 mark = (u8)(long)data + 1;
	unsigned int seed = mark;
	int i;

	for (i = 0; i < rounds + BLOCKS; i++) {
		int at = i < rounds ? (seed = seed * 1103515245 + 12345) >> 8 & (BLOCKS - 1) : i - rounds;

		if (blocks[at].bytes)
			take(&blocks[at], at % 8, mark);
		else if (i < rounds)
			give(&blocks[at], at % 8, (seed >> 16) % 3000 + 1, mark);
	}
	complete(&done);
	return 0;
}

static int __init blocks_race_init(void)
{
	long i;

	for (i = 0; i < THREADS; i++)
		kthread_run(allocate, (void *)i, "blocks/%ld", i);
	for (i = 0; i < THREADS; i++)
		wait_for_completion(&done);
	printk(KERN_INFO "blocks_race: %d changed, %d refused\n", atomic_read(&changed),
	       atomic_read(&refused));
	return 0;
}

static void __exit blocks_race_exit(void)
{
}
module_init(blocks_race_init);
module_exit(blocks_race_exit);
MODULE_LICENSE("GPL");
