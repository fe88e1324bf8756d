// lock taken twice: lock `lock` is taken by the thread that holds it
// timeout: 2
#include <linux/module.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);

static int __init begin(void)
{
	spin_lock(&lock);
	spin_lock(&lock); // in
	spin_unlock(&lock);
	spin_unlock(&lock);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
