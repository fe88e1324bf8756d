/* Mistakes, one for each value of `what`. */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>
#include <linux/string.h>
#include <linux/mutex.h>
#include <linux/completion.h>
#include <linux/rcupdate.h>

static char *what = "";
module_param(what, charp, 0);
static DEFINE_SPINLOCK(bad_lock);
static volatile int zero;
static DEFINE_MUTEX(bad_mutex);

struct later {
	struct rcu_head rcu;
};

static noinline void *make(size_t size)
{
	return kmalloc(size, GFP_KERNEL);
}

static noinline void crash(int *p)
{
	*(volatile int *)p = 1;
}

static int __init bad_init(void)
{
	char *p;
	int i;

	pr_info("bad: %s\n", what);
	if (!strcmp(what, "leak")) {
		for (i = 0; i < 3; i++)
			make(100);
	} else if (!strcmp(what, "doublefree")) {
		p = make(64);
		kfree(p);
		kfree(p);
	} else if (!strcmp(what, "overflow")) {
		p = make(24);
		p[24] = 1;
		kfree(p);
	} else if (!strcmp(what, "cacheoverflow")) {
		struct kmem_cache *c = kmem_cache_create("bad_cache", 40, 0, 0, NULL);
		p = kmem_cache_alloc(c, GFP_KERNEL);
		memset(p, 0, 41);
		kmem_cache_free(c, p);
		kmem_cache_destroy(c);
	} else if (!strcmp(what, "cachebusy")) {
		struct kmem_cache *c = kmem_cache_create("bad_cache", 40, 0, 0, NULL);
		kmem_cache_alloc(c, GFP_KERNEL);
		kmem_cache_destroy(c);
	} else if (!strcmp(what, "sleep")) {
		spin_lock(&bad_lock);
		p = make(64);
		spin_unlock(&bad_lock);
		kfree(p);
	} else if (!strcmp(what, "atomic")) {
		spin_lock(&bad_lock);
		p = kmalloc(64, GFP_ATOMIC);
		spin_unlock(&bad_lock);
		kfree(p);
	} else if (!strcmp(what, "interior")) {
		p = make(64);
		kfree(p + 8);
		kfree(p);
	} else if (!strcmp(what, "wrongfree")) {
		p = vmalloc(100);
		kfree(p);
	} else if (!strcmp(what, "useafterfree")) {
		p = make(64);
		kfree(p);
		p[3] = 1;
	} else if (!strcmp(what, "null")) {
		crash(NULL);
	} else if (!strcmp(what, "divide")) {
		return 100 / zero;
	} else if (!strcmp(what, "recurse")) {
		return bad_init();
	} else if (!strcmp(what, "memset")) {
		memset((void *)(8L + zero), 0, 64);
	} else if (!strcmp(what, "bug")) {
		BUG_ON(!zero);
	} else if (!strcmp(what, "pagestwice")) {
		unsigned long before = nr_free_pages();

		p = (char *)__get_free_pages(GFP_KERNEL, 3);
		free_pages((unsigned long)p, 3);
		free_pages((unsigned long)p, 3);
		pr_info("bad: %ld pages lost\n", (long)(before - nr_free_pages()));
	} else if (!strcmp(what, "endless")) {
		pr_info("bad: before the loop\n");
		while (!zero)
			cpu_relax();
	} else if (!strcmp(what, "waits")) {
		DECLARE_COMPLETION_ONSTACK(never);
		wait_for_completion(&never);
	} else if (!strcmp(what, "before")) {
		p = make(64);
		p[-1] = 1;
		kfree(p);
	} else if (!strcmp(what, "farbehind")) {
		p = make(64);
		i = *(volatile char *)(p + 80);
		kfree(p);
	} else if (!strcmp(what, "mutex")) {
		spin_lock(&bad_lock);
		mutex_lock(&bad_mutex);
		mutex_unlock(&bad_mutex);
		spin_unlock(&bad_lock);
	} else if (!strcmp(what, "lockleft")) {
		spin_lock(&bad_lock);
	} else if (!strcmp(what, "rcu")) {
		struct later *later = kmalloc(sizeof(*later), GFP_KERNEL);

		kfree_rcu(later, rcu);
	} else if (!strcmp(what, "positive")) {
		return 5;
	}
	return 0;
}

static void __exit bad_exit(void)
{
	pr_info("bad: exit\n");
}
module_init(bad_init);
module_exit(bad_exit);
MODULE_LICENSE("GPL");
