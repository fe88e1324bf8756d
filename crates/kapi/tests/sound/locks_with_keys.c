// Nothing is wrong here: locks with keys.
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/lockdep.h>

static struct lock_class_key upper_key, lower_key;
static struct mutex upper, lower;

static void both(struct mutex *a, struct mutex *b)
{
	mutex_lock(a);
	mutex_lock(b);
	mutex_unlock(b);
	mutex_unlock(a);
}

static void prepare(struct mutex *lock)
{
	mutex_init(lock);
}

static int __init begin(void)
{
	prepare(&upper);
	lockdep_set_class(&upper, &upper_key);
	prepare(&lower);
	lockdep_set_class(&lower, &lower_key);
	both(&upper, &lower);
	both(&upper, &lower);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
