// unlock without a lock: nobody holds the lock
#include <linux/module.h>
#include <linux/mutex.h>

static DEFINE_MUTEX(lock);

static int __init begin(void)
{
	mutex_unlock(&lock); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
