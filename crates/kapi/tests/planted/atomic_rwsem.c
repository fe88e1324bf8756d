// sleep in atomic context: down_read() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);
static DECLARE_RWSEM(sem);

static int __init begin(void)
{
	spin_lock(&lock);
	down_read(&sem); // in
	up_read(&sem);
	spin_unlock(&lock);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
