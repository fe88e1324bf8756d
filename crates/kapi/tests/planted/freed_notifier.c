// left behind: the notifier block `told` is registered in memory that is freed
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/reboot.h>
#include <linux/slab.h>

static int told(struct notifier_block *nb, unsigned long action, void *data)
{
	return NOTIFY_OK;
}

static int __init begin(void)
{
	struct notifier_block *block = kzalloc(sizeof(*block), GFP_KERNEL);

	if (!block)
		return -ENOMEM;
	block->notifier_call = told;
	register_reboot_notifier(block);
	kfree(block); // in
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
