// Nothing is wrong here: notifier unregistered.
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/reboot.h>

static int told(struct notifier_block *nb, unsigned long action, void *data)
{
	return NOTIFY_DONE;
}

static struct notifier_block block = { .notifier_call = told, .priority = 3 };
static RAW_NOTIFIER_HEAD(raw);
static ATOMIC_NOTIFIER_HEAD(atomic);
static struct notifier_block in_raw = { .notifier_call = told };
static struct notifier_block in_atomic = { .notifier_call = told };

static int __init begin(void)
{
	raw_notifier_chain_register(&raw, &in_raw);
	atomic_notifier_chain_register(&atomic, &in_atomic);
	raw_notifier_call_chain(&raw, 1, NULL);
	atomic_notifier_call_chain(&atomic, 1, NULL);
	return register_reboot_notifier(&block);
}

static void __exit end(void)
{
	unregister_reboot_notifier(&block);
	atomic_notifier_chain_unregister(&atomic, &in_atomic);
	raw_notifier_chain_unregister(&raw, &in_raw);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
