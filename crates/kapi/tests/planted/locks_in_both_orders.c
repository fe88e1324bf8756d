// locks in both orders: lock `first` is taken with lock `second` held
#include <linux/module.h>
#include <linux/mutex.h>

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);

static int __init begin(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first); // in
	mutex_unlock(&first);
	mutex_unlock(&second);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
