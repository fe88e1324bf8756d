/* Every macro of what books' modules brought: locks that are tried, counts that end under one, words of any order, power. */
#include <linux/kref.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/pm.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/stat.h>
#include <linux/swab.h>
#include <linux/timer.h>
#include <linux/unaligned.h>
#include <linux/version.h>

#include "check.h"

DECLARE_PER_CPU_ALIGNED(int, aligned);
DECLARE_PER_CPU_SHARED_ALIGNED(int, shared_aligned);
DECLARE_PER_CPU_READ_MOSTLY(int, read_mostly);
DEFINE_PER_CPU_ALIGNED(int, aligned);
DEFINE_PER_CPU_SHARED_ALIGNED(int, shared_aligned);
DEFINE_PER_CPU_READ_MOSTLY(int, read_mostly);
DEFINE_PER_CPU_FIRST(int, first);

static DEFINE_RWLOCK(readers);
static DEFINE_SPINLOCK(spin);
static DEFINE_MUTEX(mutex);

static void locks(void)
{
	unsigned long flags;

	IS(read_trylock(&readers), 1);
	IS(write_trylock(&readers), 0);
	IS(write_trylock_irqsave(&readers, flags), 0);
	read_unlock(&readers);
	IS(write_trylock_irqsave(&readers, flags), 1);
	IS(read_trylock(&readers), 0);
	write_unlock_irqrestore(&readers, flags);
	IS(write_trylock(&readers), 1);
	write_unlock(&readers);
}

static int released;

static void release(struct kref *kref)
{
	released++;
}

static void counts(void)
{
	struct kref kref;
	refcount_t refs;
	unsigned long flags;

	kref_init(&kref);
	kref_get(&kref);
	IS(kref_put_mutex(&kref, release, &mutex), 0);
	IS(kref_put_mutex(&kref, release, &mutex), 1);
	mutex_unlock(&mutex);
	kref_init(&kref);
	IS(kref_put_lock(&kref, release, &spin), 1);
	spin_unlock(&spin);
	IS(released, 2);
	refcount_set(&refs, 2);
	IS(refcount_dec_and_lock(&refs, &spin), 0);
	IS(refcount_dec_and_lock(&refs, &spin), 1);
	spin_unlock(&spin);
	refcount_set(&refs, 1);
	IS(refcount_dec_and_lock_irqsave(&refs, &spin, &flags), 1);
	spin_unlock_irqrestore(&spin, flags);
	refcount_set(&refs, 1);
	IS(refcount_dec_and_mutex_lock(&refs, &mutex), 1);
	mutex_unlock(&mutex);
}

static void words(void)
{
	u8 bytes[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	u16 two = 0x0102;
	u32 four = 0x01020304;
	u64 eight = 0x0102030405060708ULL;

	IS(get_unaligned((u16 *)(bytes + 1)), 0x0302);
	put_unaligned((u32)0x0a0b0c0d, (u32 *)(bytes + 1));
	IS(bytes[1], 0x0d);
	IS(__swab16(two), 0x0201);
	IS(__swab32(four), 0x04030201);
	IS(__swab64(eight), 0x0807060504030201ULL);
	IS(swab16p(&two), 0x0201);
	IS(swab32p(&four), 0x04030201);
	IS(swab64p(&eight), 0x0807060504030201ULL);
	IS(S_ISLNK(S_IFLNK) + S_ISBLK(S_IFBLK) + S_ISFIFO(S_IFIFO) + S_ISSOCK(S_IFSOCK), 4);
	IS(S_ISLNK(S_IFREG) + S_ISBLK(S_IFREG) + S_ISFIFO(S_IFREG) + S_ISSOCK(S_IFREG), 0);
}

static int stop(struct device *dev) { return 1; }
static int go(struct device *dev) { return 2; }
static int idle(struct device *dev) { return 3; }

static SIMPLE_DEV_PM_OPS(simple, stop, go);
DEFINE_SIMPLE_DEV_PM_OPS(defined, stop, go);
static const struct dev_pm_ops both = {
	SYSTEM_SLEEP_PM_OPS(stop, go)
	RUNTIME_PM_OPS(stop, go, idle)
};
static const struct dev_pm_ops set = {
	SET_SYSTEM_SLEEP_PM_OPS(stop, go)
	SET_RUNTIME_PM_OPS(stop, go, idle)
};

static void power(void)
{
	IS(pm_ptr(&simple)->suspend(NULL) + pm_sleep_ptr(&defined)->resume(NULL), 3);
	IS(both.poweroff(NULL) + set.restore(NULL) + both.runtime_idle(NULL) + set.runtime_resume(NULL), 8);
}

static int __init every_init(void)
{
	locks();
	counts();
	words();
	power();
	return result();
}

static void __exit every_exit(void)
{
}
module_init(every_init);
module_exit(every_exit);
MODULE_LICENSE("GPL");
