// left behind: the notifier block `short_of_memory` is still there
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/oom.h>

static int short_of_memory(struct notifier_block *nb, unsigned long action, void *freed)
{
	return NOTIFY_OK;
}

static struct notifier_block block = { .notifier_call = short_of_memory };

static int __init begin(void)
{
	return register_oom_notifier(&block); // in
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
