// left behind: the notifier block `going_down` is still there
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/reboot.h>

static int going_down(struct notifier_block *nb, unsigned long action, void *data)
{
	return NOTIFY_DONE;
}

static struct notifier_block block = { .notifier_call = going_down };

static int __init begin(void)
{
	return register_reboot_notifier(&block); // in
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
