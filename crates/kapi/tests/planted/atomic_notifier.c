// sleep in atomic context: down_write() may sleep, under a spinlock
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(lock);
static BLOCKING_NOTIFIER_HEAD(chain);

static int told(struct notifier_block *nb, unsigned long action, void *data)
{
	return NOTIFY_DONE;
}

static struct notifier_block block = { .notifier_call = told };

static int __init begin(void)
{
	spin_lock(&lock);
	blocking_notifier_chain_register(&chain, &block); // in
	spin_unlock(&lock);
	blocking_notifier_chain_unregister(&chain, &block);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
