// A table that grows and shrinks under threads that insert, look up, remove, and one that walks it.
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>

#define WRITERS 4
#define KEYS 2000

struct item {
	u32 key;
	u32 check;
	struct rhash_head node;
	struct rcu_head rcu;
};
static const struct rhashtable_params params = {
	.key_len = sizeof(u32),
	.key_offset = offsetof(struct item, key),
	.head_offset = offsetof(struct item, node),
	.automatic_shrinking = true,
};
static struct rhashtable table;
static atomic_t wrong, walks, restarts, resident_missing, begun;
static struct item *residents[100];

static struct item *item_of(u32 key)
{
	struct item *item = kmalloc(sizeof(*item), GFP_KERNEL);

	if (item) {
		item->key = key;
		item->check = ~key;
	}
	return item;
}

/* Looks a key up: with what is found it has to be right. */
static bool there(u32 key)
{
	struct item *item;
	bool found;

	rcu_read_lock();
	item = rhashtable_lookup(&table, &key, params);
	found = item != NULL;
	if (item && (item->key != key || item->check != ~key))
		atomic_inc(&wrong);
	rcu_read_unlock();
	return found;
}

static int writer(void *data)
{
	u32 first = 1000 + KEYS * (u32)(unsigned long)data, i;

	atomic_inc(&begun);
	for (i = 0; i < KEYS; i++) {
		struct item *item = item_of(first + i);

		if (!item || rhashtable_lookup_insert_fast(&table, &item->node, params))
			atomic_inc(&wrong);
		if (!there(first + i) || there(first + KEYS * WRITERS + i))
			atomic_inc(&wrong);
		if (i % 32 == 0)
			cond_resched();
	}
	for (i = 0; i < KEYS; i++) {
		u32 key = first + i;
		struct item *item = rhashtable_lookup_fast(&table, &key, params);

		if (!item || rhashtable_remove_fast(&table, &item->node, params)) {
			atomic_inc(&wrong);
			continue;
		}
		kfree_rcu(item, rcu);
		if (there(key))
			atomic_inc(&wrong);
		if (i % 32 == 0)
			cond_resched();
	}
	return 0;
}

/* The residents stay: no moment of a resize hides them. */
static int reader(void *unused)
{
	while (!kthread_should_stop()) {
		u32 i;

		for (i = 0; i < ARRAY_SIZE(residents); i++)
			if (!there(i))
				atomic_inc(&resident_missing);
		cond_resched();
	}
	return 0;
}

static int walker(void *unused)
{
	while (!kthread_should_stop()) {
		struct rhashtable_iter iter;
		struct item *item;
		int seen = 0;

		rhashtable_walk_enter(&table, &iter);
		rhashtable_walk_start(&iter);
		while ((item = rhashtable_walk_next(&iter)) != NULL) {
			if (IS_ERR(item)) {
				atomic_inc(&restarts);
				continue;
			}
			if (item->check != ~item->key)
				atomic_inc(&wrong);
			if (++seen % 100 == 0) {
				rhashtable_walk_stop(&iter);
				cond_resched();
				rhashtable_walk_start(&iter);
			}
		}
		rhashtable_walk_stop(&iter);
		rhashtable_walk_exit(&iter);
		atomic_inc(&walks);
		cond_resched();
	}
	return 0;
}

static void drop(void *item, void *count)
{
	kfree(item);
	++*(int *)count;
}

static int __init rhash_threads_init(void)
{
	struct task_struct *writers[WRITERS], *other[2];
	unsigned int large = 0, small;
	int i, dropped = 0;

	if (rhashtable_init(&table, &params))
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(residents); i++) {
		residents[i] = item_of((u32)i);
		rhashtable_insert_fast(&table, &residents[i]->node, params);
	}
	pr_info("rhash: twice %d\n", rhashtable_lookup_insert_fast(&table, &residents[5]->node, params));
	other[0] = kthread_run(reader, NULL, "reader");
	other[1] = kthread_run(walker, NULL, "walker");
	for (i = 0; i < WRITERS; i++)
		writers[i] = kthread_create(writer, (void *)(long)i, "writer/%d", i);
	for (i = 0; i < WRITERS; i++)
		wake_up_process(writers[i]);
	/* A thread that is stopped before it began never runs. The table's length tells nothing: it may
	   be short again before we look. */
	while (atomic_read(&begun) < WRITERS)
		msleep(1);
	for (i = 0; i < WRITERS; i++)
		kthread_stop(writers[i]);
	rcu_read_lock();
	large = rcu_dereference(table.tbl)->size;
	rcu_read_unlock();
	flush_scheduled_work();
	small = table.tbl->size;
	for (i = 0; i < 2; i++)
		kthread_stop(other[i]);
	pr_info("rhash: wrong %d, missing %d, %d left, shrunk %d, walked %d\n", atomic_read(&wrong),
		atomic_read(&resident_missing), atomic_read(&table.nelems), small <= large && small <= 512,
		atomic_read(&walks) > 0);
	rhashtable_free_and_destroy(&table, drop, &dropped);
	pr_info("rhash: dropped %d\n", dropped);
	return 0;
}

static void __exit rhash_threads_exit(void)
{
	rcu_barrier();
}
module_init(rhash_threads_init);
module_exit(rhash_threads_exit);
MODULE_LICENSE("GPL");
