// Locks of each CPU, counters of each CPU, keys of branches, and chains that end with a number, between threads.
#include <linux/delay.h>
#include <linux/jump_label.h>
#include <linux/kthread.h>
#include <linux/local_lock.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rculist_nulls.h>
#include <linux/slab.h>
#include <linux/u64_stats_sync.h>
#include <linux/version.h>

#define THREADS 6
#define ROUNDS 5000

struct counters {
	local_lock_t lock;
	/* Two halves that are the same whenever the lock is free. */
	long left, right;
	u64_stats_t packets;
	struct u64_stats_sync sync;
};
static DEFINE_PER_CPU(struct counters, counters) = { .lock = INIT_LOCAL_LOCK(lock) };
static DEFINE_STATIC_KEY_FALSE(turned);
static atomic_t wrong;

/* Objects of a cache that are reused at once: a reader sees a key or another, and the chain's own end. */
struct entry {
	struct hlist_nulls_node node;
	int key;
	refcount_t users;
};
static struct hlist_nulls_head chains[2] = { HLIST_NULLS_HEAD_INIT(0), HLIST_NULLS_HEAD_INIT(1) };
static DEFINE_SPINLOCK(chains_lock);
static struct kmem_cache *entries;

static int counter(void *unused)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		struct counters *mine;
		unsigned long flags;

		local_lock_irqsave(&counters.lock, flags);
		mine = this_cpu_ptr(&counters);
		if (mine->left != mine->right)
			atomic_inc(&wrong);
		WRITE_ONCE(mine->left, mine->left + 1);
		if (i % 100 == 0)
			udelay(1);
		WRITE_ONCE(mine->right, mine->right + 1);
		local_unlock_irqrestore(&counters.lock, flags);
		u64_stats_update_begin(&mine->sync);
		u64_stats_inc(&mine->packets);
		u64_stats_update_end(&mine->sync);
		if (i % 100 == 0)
			static_branch_inc(&turned);
		if (static_branch_unlikely(&turned) && i % 100 == 50)
			static_branch_dec(&turned);
	}
	return 0;
}

static struct entry *find(int key)
{
	struct hlist_nulls_head *chain = &chains[key & 1];
	struct hlist_nulls_node *pos;
	struct entry *entry;

again:
	hlist_nulls_for_each_entry_rcu(entry, pos, chain, node) {
		if (entry->key != key)
			continue;
		if (!refcount_inc_not_zero(&entry->users))
			goto again;
		if (entry->key == key)
			return entry;
		refcount_dec(&entry->users);
		goto again;
	}
	if (get_nulls_value(pos) != (key & 1))
		goto again;
	return NULL;
}

static int mover(void *unused)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		int key = 10 + i % 7;
		struct entry *entry = kmem_cache_alloc(entries, GFP_KERNEL);

		entry->key = key;
		refcount_set(&entry->users, 1);
		spin_lock(&chains_lock);
		hlist_nulls_add_head_rcu(&entry->node, &chains[key & 1]);
		spin_unlock(&chains_lock);
		if (i % 50 == 0)
			cond_resched();
		spin_lock(&chains_lock);
		hlist_nulls_del_init_rcu(&entry->node);
		spin_unlock(&chains_lock);
		if (refcount_dec_and_test(&entry->users))
			kmem_cache_free(entries, entry);
	}
	return 0;
}

static int finder(void *unused)
{
	int i;

	for (i = 0; !kthread_should_stop(); i++) {
		struct entry *entry;

		rcu_read_lock();
		entry = find(i & 1);
		if (!entry || entry->key != (i & 1))
			atomic_inc(&wrong);
		if (entry)
			refcount_dec(&entry->users);
		entry = find(10 + i % 7);
		if (entry && refcount_dec_and_test(&entry->users))
			kmem_cache_free(entries, entry);
		rcu_read_unlock();
		if (i % 50 == 0)
			cond_resched();
	}
	return 0;
}

static int __init small_locks_init(void)
{
	struct task_struct *threads[THREADS], *movers[2], *reader;
	struct entry *residents[2], *entry;
	struct hlist_nulls_node *pos;
	u64 packets = 0;
	long sum = 0;
	int i, cpu, n = 0;

	entries = kmem_cache_create("entries", sizeof(struct entry), 0, SLAB_TYPESAFE_BY_RCU, NULL);
	for (i = 0; i < 2; i++) {
		residents[i] = kmem_cache_alloc(entries, GFP_KERNEL);
		residents[i]->key = i;
		refcount_set(&residents[i]->users, 1);
		hlist_nulls_add_tail_rcu(&residents[i]->node, &chains[i]);
	}
	for (i = 0; i < THREADS; i++)
		threads[i] = kthread_create(counter, NULL, "counter/%d", i);
	for (i = 0; i < 2; i++)
		movers[i] = kthread_create(mover, NULL, "mover/%d", i);
	reader = kthread_run(finder, NULL, "finder");
	for (i = 0; i < THREADS; i++)
		wake_up_process(threads[i]);
	for (i = 0; i < 2; i++)
		wake_up_process(movers[i]);
	for (;;) {
		for (sum = packets = 0, cpu = 0; cpu < nr_cpu_ids; cpu++) {
			sum += READ_ONCE(per_cpu(counters, cpu).right);
			packets += u64_stats_read(&per_cpu(counters, cpu).packets);
		}
		if (packets == THREADS * ROUNDS)
			break;
		msleep(1);
	}
	for (i = 0; i < THREADS; i++)
		kthread_stop(threads[i]);
	for (i = 0; i < 2; i++)
		kthread_stop(movers[i]);
	kthread_stop(reader);
	pr_info("small_locks: sum %ld, packets %llu, wrong %d\n", sum, packets, atomic_read(&wrong));
	pr_info("small_locks: key %d\n", static_key_count(&turned.key) >= 0);
	for (i = 0; i < 2; i++)
		hlist_nulls_for_each_entry(entry, pos, &chains[i], node)
			n++;
	pr_info("small_locks: %d entries\n", n);
	for (i = 0; i < 2; i++) {
		hlist_nulls_del_rcu(&residents[i]->node);
		kmem_cache_free(entries, residents[i]);
	}
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
	scoped_guard(local_lock, &counters.lock)
		pr_info("small_locks: guarded %d\n", in_atomic());
	{
		guard(local_lock_irqsave)(&counters.lock);
		guard(preempt)();
		guard(rcu)();
		guard(irq)();
		pr_info("small_locks: off %d\n", irqs_disabled());
	}
	scoped_guard(spinlock_irqsave, &chains_lock) {
		scoped_cond_guard(spinlock_try, pr_info("small_locks: held\n"), &chains_lock)
			pr_info("small_locks: taken twice\n");
	}
	pr_info("small_locks: on %d\n", !irqs_disabled() && !in_atomic());
#endif
	kmem_cache_destroy(entries);
	return 0;
}

static void __exit small_locks_exit(void)
{
}
module_init(small_locks_init);
module_exit(small_locks_exit);
MODULE_LICENSE("GPL");
