// left behind: the probe `kernel_clone` is still there
#include <linux/module.h>
#include <linux/kprobes.h>

static int count(struct kprobe *p, struct pt_regs *regs)
{
	return 0;
}

static struct kprobe probe = { .symbol_name = "kernel_clone", .pre_handler = count };

static int __init begin(void)
{
	return register_kprobe(&probe); // in
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
