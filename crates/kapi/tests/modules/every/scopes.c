/* Every macro about what ends with its scope, and about allocating by type, with what it has to give. */
#include <linux/cleanup.h>
#include <linux/kfifo.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "check.h"

static DEFINE_MUTEX(lock);
static int freed, held, flags_kept;

static void count_free(void *p)
{
	freed++;
	kfree(p);
}

DEFINE_FREE(counted, void *, if (_T) count_free(_T))
DEFINE_CLASS(holder, int, held -= _T, ({ held += by; by; }), int by)
EXTEND_CLASS(holder, _two, ({ held += 2; 2; }), void)
DEFINE_GUARD(every, struct mutex *, mutex_lock(_T), mutex_unlock(_T))
DEFINE_GUARD_COND(every, _try, mutex_trylock(_T))
DEFINE_LOCK_GUARD_0(nothing, held++, held--)
DEFINE_LOCK_GUARD_1(flagged, struct mutex, ({ mutex_lock(_T->lock); _T->flags = 7; }),
		    ({ flags_kept += _T->flags; mutex_unlock(_T->lock); }), int flags)
DEFINE_LOCK_GUARD_1_COND(flagged, _try, mutex_trylock(_T->lock))
__DEFINE_UNLOCK_GUARD(by_hand, struct mutex, mutex_unlock(_T->lock), int spare)

static void *kept(void)
{
	void *p __free(counted) = kmalloc(8, GFP_KERNEL);

	return_ptr(p);
}

static void pointers(void)
{
	void *mine = NULL, *null = NULL;

	{
		void *a __free(counted) = kmalloc(8, GFP_KERNEL);
		void *b __free(counted) = kmalloc(8, GFP_KERNEL);
		void *c __free(counted) = kmalloc(8, GFP_KERNEL);

		mine = no_free_ptr(a);
		IS(a, null);
		kfree(b);
		retain_and_null_ptr(b);
		IS(c != NULL, true);
	}
	IS(freed, 1);
	kfree(mine);
	mine = kept();
	IS(freed, 1);
	kfree(__get_and_null(mine, NULL));
	IS(mine, null);
}

static void classes(void)
{
	{
		CLASS(holder, three)(3);
		CLASS(holder_two, two)();
		IS(held, 5);
		IS(three + two, 5);
	}
	IS(held, 0);
	{
		guard(nothing)();
		IS(held, 1);
	}
	IS(held, 0);
}

static void locks(void)
{
	int inside = 0, failed = 0;

	{
		guard(every)(&lock);
		IS(mutex_is_locked(&lock), true);
		scoped_guard(every_try, &lock)
			inside++;
		IS(inside, 0);
		scoped_cond_guard(every_try, failed++, &lock)
			inside++;
		IS(failed, 1);
	}
	IS(mutex_is_locked(&lock), false);
	scoped_guard(every, &lock) {
		IS(mutex_is_locked(&lock), true);
		inside++;
	}
	scoped_cond_guard(every_try, failed++, &lock)
		inside++;
	IS(inside, 2);
	scoped_guard(flagged, &lock)
		inside++;
	IS(flags_kept, 7);
	scoped_guard(flagged_try, &lock)
		inside++;
	IS(inside, 4);
	mutex_lock(&lock);
	{
		class_by_hand_t by_hand __cleanup(class_by_hand_destructor) = { .lock = &lock };

		IS(__guard_ptr(by_hand)(&by_hand), (void *)&lock);
	}
	IS(mutex_is_locked(&lock), false);
}

struct flexible {
	int n;
	u64 all[];
};

static void objects(void)
{
	struct flexible *a = kmalloc_obj(*a), *b = kzalloc_obj(struct flexible, GFP_ATOMIC);
	struct flexible *c = kmalloc_flex(*c, all, 4), *d = kzalloc_flex(*d, all, 4, GFP_KERNEL);
	struct flexible *e = kvmalloc_obj(*e), *f = kvzalloc_obj(*f);
	struct flexible *g = kvmalloc_flex(*g, all, 4), *h = kvzalloc_flex(*h, all, 4);
	int *i = kmalloc_objs(int, 5), *j = kzalloc_objs(*j, 5, GFP_KERNEL);
	int *k = kvmalloc_objs(int, 5), *l = kvzalloc_objs(*l, 5);
	int *left[] = { i, NULL }, *right_of[] = { j, k, NULL }, **both = memcat_p(left, right_of);

	IS(b->n + d->n + f->n + h->n + j[4] + l[4], 0);
	IS(d->all[3] + h->all[3], 0);
	IS(ksize(c) >= sizeof(*c) + 4 * sizeof(u64), true);
	IS(both[2], k);
	IS(both[3] == NULL, true);
	kfree(both);
	kfree(a);
	kfree(b);
	kfree(c);
	kfree(d);
	kvfree(e);
	kvfree(f);
	kvfree(g);
	kvfree(h);
	kfree(i);
	kfree(j);
	kvfree(k);
	kvfree(l);
}

static ssize_t show(struct kobject *kobj, const struct kobj_attribute *attr, char *buf) { return 0; }
static const struct kobj_attribute attribute = __KOBJ_ATTR(every, 0444, show, NULL);
static DEFINE_PER_CPU(long, counter);

static void others(void)
{
	DECLARE_KFIFO(in_place, int, 4);
	DECLARE_KFIFO_PTR(elsewhere, int);
	unsigned int one = 1;

	IS(__is_kfifo_ptr(&in_place), false);
	IS(__is_kfifo_ptr(&elsewhere), true);
	IS(attribute.show_const, show);
	this_cpu_sub(counter, one);
	IS(this_cpu_read(counter), -1);
}

static int __init every_init(void)
{
	pointers();
	classes();
	locks();
	objects();
	others();
	return result();
}

static void __exit every_exit(void)
{
}
module_init(every_init);
module_exit(every_exit);
MODULE_LICENSE("GPL");
