// locks in both orders: lock `first` is taken with lock `third` held
#include <linux/module.h>
#include <linux/mutex.h>

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static DEFINE_MUTEX(third);

static void both(struct mutex *outer, struct mutex *inner)
{
	mutex_lock(outer);
	mutex_lock(inner); // in
	mutex_unlock(inner);
	mutex_unlock(outer);
}

static int __init begin(void)
{
	both(&first, &second);
	both(&second, &third);
	both(&third, &first);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
