/* One thing that is wrong, as the parameter says: sleeping where it is forbidden, references, orders of locks. */
#include <linux/gfp.h>
#include <linux/idr.h>
#include <linux/kref.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>

static char *what = "";
module_param(what, charp, 0);
#define IS(kind) (!strcmp(what, kind))

static DEFINE_SPINLOCK(first);
static DEFINE_SPINLOCK(second);
static DEFINE_MUTEX(outer);
static DEFINE_MUTEX(inner);
static DEFINE_XARRAY(array);
static DEFINE_IDA(ida);
static DEFINE_IDR(idr);

static void both(spinlock_t *a, spinlock_t *b)
{
	spin_lock(a);
	spin_lock(b);
	spin_unlock(b);
	spin_unlock(a);
}

static void both_mutexes(struct mutex *a, struct mutex *b)
{
	mutex_lock(a);
	mutex_lock(b);
	mutex_unlock(b);
	mutex_unlock(a);
}

static void in_atomic_context(gfp_t gfp)
{
	struct kmem_cache *cache = NULL;
	unsigned long flags;

	spin_lock_irqsave(&first, flags);
	if (IS("cache"))
		cache = kmem_cache_create("wrong", 40, 0, 0, NULL);
	if (IS("xarray") && xa_err(xa_store(&array, 5, &array, gfp)))
		pr_info("no memory\n");
	if (IS("insert") && xa_insert(&array, 5, &array, gfp))
		pr_info("no memory\n");
	if (IS("ida"))
		ida_free(&ida, ida_alloc(&ida, gfp));
	if (IS("idr"))
		idr_alloc(&idr, &idr, 0, 0, gfp);
	if (IS("irqsave"))
		kfree(kmalloc(10, gfp));
	spin_unlock_irqrestore(&first, flags);
	kmem_cache_destroy(cache);
	xa_destroy(&array);
	idr_destroy(&idr);
}

static void references(void)
{
	refcount_t count = REFCOUNT_INIT(1);

	if (refcount_dec_and_test(&count) && IS("from zero"))
		refcount_inc(&count);
	if (IS("underflow") && refcount_dec_and_test(&count))
		pr_info("twice\n");
	refcount_set(&count, 1);
	if (IS("to zero"))
		refcount_dec(&count);
}

static int __init wrong_init(void)
{
	char *p = kmalloc(60, GFP_KERNEL);

	both(&first, &second);
	if (IS("spinlocks"))
		both(&second, &first);
	both_mutexes(&outer, &inner);
	if (IS("mutexes"))
		both_mutexes(&inner, &outer);
	in_atomic_context(GFP_KERNEL);
	references();
	kfree(p);
	if (IS("use after free"))
		p[5] = 'x';
	return 0;
}

static void __exit wrong_exit(void)
{
}
module_init(wrong_init);
module_exit(wrong_exit);
MODULE_LICENSE("GPL");
