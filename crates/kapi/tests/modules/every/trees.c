/* Every macro of the maple tree, and the forms of rw_semaphore that came with it. */
#include <linux/maple_tree.h>
#include <linux/module.h>
#include <linux/rwsem.h>

#include "check.h"

static DEFINE_MTREE(plain);
static struct maple_tree with_gaps = MTREE_INIT(with_gaps, MT_FLAGS_ALLOC_RANGE);
static DEFINE_SPINLOCK(outer);
static struct maple_tree outside = MTREE_INIT_EXT(outside, MT_FLAGS_LOCK_EXTERN, outer);
static int values[3];

static void stores(void)
{
	MA_STATE(mas, &plain, 10, 19);

	mas_lock(&mas);
	IS(mas_store_gfp(&mas, &values[0], GFP_KERNEL), 0);
	mas_unlock(&mas);
	IS(mtree_store_range(&plain, 30, 39, &values[1], GFP_KERNEL), 0);
	IS(mtree_insert(&plain, 35, &values[2], GFP_KERNEL), -EEXIST);
	mtree_lock(&plain);
	IS(mt_lock_is_held(&plain) && mt_write_lock_is_held(&plain), 1);
	mtree_unlock(&plain);
	mtree_lock_nested(&plain, 1);
	mtree_unlock(&plain);
}

static void walks(void)
{
	unsigned long index = 0, flags;
	int seen = 0;
	void *entry;
	MA_STATE(mas, &plain, 0, 0);

	mt_for_each(&plain, entry, index, ULONG_MAX)
		seen++;
	IS(seen, 2);
	mas_lock_irqsave(&mas, flags);
	mas_for_each(&mas, entry, 25)
		seen++;
	mas_unlock_irqrestore(&mas, flags);
	IS(seen, 3);
	mas_set(&mas, ULONG_MAX);
	mas_lock_nested(&mas, 1);
	mas_for_each_rev(&mas, entry, 0)
		seen++;
	mas_unlock(&mas);
	IS(seen, 5);
	MAS_BUG_ON(&mas, seen != 5);
	MAS_WR_BUG_ON(&mas, seen != 5);
	IS(MAS_WARN_ON(&mas, seen != 5) || MAS_WR_WARN_ON(&mas, seen != 5), 0);
	MT_BUG_ON(&plain, mtree_empty(&plain));
	IS(MT_WARN_ON(&plain, mtree_empty(&plain)), 0);
}

static void others(void)
{
	struct maple_tree here = MTREE_INIT(here, 0);
	unsigned long start = 0;

	mt_on_stack(here);
	IS(mtree_empty(&here), 1);
	IS(mtree_alloc_range(&with_gaps, &start, &values[0], 4, 100, 200, GFP_KERNEL), 0);
	IS(start, 100);
	mt_set_external_lock(&outside, &outer);
	spin_lock(&outer);
	IS(mtree_empty(&outside), 1);
	spin_unlock(&outer);
	IS(MA_ERROR(-ENOMEM) == MA_ERROR(-EBUSY), 0);
	mtree_destroy(&with_gaps);
	mtree_destroy(&plain);
}

static DECLARE_RWSEM(sem);

static void semaphores(void)
{
	down_read_nested(&sem, 1);
	up_read(&sem);
	down_write_nested(&sem, 1);
	up_write(&sem);
	down_write_nest_lock(&sem, &outside);
	up_write(&sem);
	IS(down_write_killable_nested(&sem, 1), 0);
	up_write(&sem);
	down_read_non_owner(&sem);
	up_read_non_owner(&sem);
	IS(rwsem_is_locked(&sem), 0);
}

static int __init trees_init(void)
{
	stores();
	walks();
	others();
	semaphores();
	return result();
}

static void __exit trees_exit(void)
{
}

module_init(trees_init);
module_exit(trees_exit);
MODULE_LICENSE("GPL");
