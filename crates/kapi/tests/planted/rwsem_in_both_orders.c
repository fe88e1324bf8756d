// locks in both orders: lock `first` is taken with lock `second` held
#include <linux/module.h>
#include <linux/rwsem.h>
#include <linux/mutex.h>

static DECLARE_RWSEM(first);
static DEFINE_MUTEX(second);

static int __init begin(void)
{
	down_read(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	up_read(&first);
	mutex_lock(&second);
	down_write(&first); // in
	up_write(&first);
	mutex_unlock(&second);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
