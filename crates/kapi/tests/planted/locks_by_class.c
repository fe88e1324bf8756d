// locks in both orders
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/slab.h>

struct account {
	struct mutex lock;
	struct mutex log_lock;
};

static struct account *new_account(void)
{
	struct account *account = kzalloc(sizeof(*account), GFP_KERNEL);

	if (account) {
		mutex_init(&account->lock);
		mutex_init(&account->log_lock);
	}
	return account;
}

static int __init begin(void)
{
	struct account *a = new_account(), *b = new_account();

	if (a && b) {
		mutex_lock(&a->lock);
		mutex_lock(&a->log_lock);
		mutex_unlock(&a->log_lock);
		mutex_unlock(&a->lock);
		mutex_lock(&b->log_lock);
		mutex_lock(&b->lock); // in
		mutex_unlock(&b->lock);
		mutex_unlock(&b->log_lock);
	}
	kfree(b);
	kfree(a);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
