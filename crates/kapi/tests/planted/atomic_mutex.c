// sleep in atomic context: mutex_lock() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);
static DEFINE_MUTEX(mutex);

static int __init begin(void)
{
	spin_lock(&lock);
	mutex_lock(&mutex); // in
	mutex_unlock(&mutex);
	spin_unlock(&lock);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
