// lock or atomic context left: init returned with a mutex held
#include <linux/module.h>
#include <linux/mutex.h>

static DEFINE_MUTEX(lock);

static int __init begin(void)
{
	mutex_lock(&lock); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
