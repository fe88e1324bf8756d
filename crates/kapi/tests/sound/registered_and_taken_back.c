// Nothing is wrong here: what is registered is taken back.
#include <linux/module.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/notifier.h>
#include <linux/oom.h>
#include <net/net_namespace.h>

static int told(struct notifier_block *nb, unsigned long action, void *data)
{
	return NOTIFY_OK;
}

static int count(struct kprobe *p, struct pt_regs *regs)
{
	return 0;
}

static int __net_init open_net(struct net *net)
{
	return 0;
}

static struct bus_type bus = { .name = "right_bus" };
static struct device_driver driver = { .name = "right", .bus = &bus, .owner = THIS_MODULE };
static struct file_system_type type = { .owner = THIS_MODULE, .name = "right" };
static struct kprobe probe = { .symbol_name = "kernel_clone", .pre_handler = count };
static struct notifier_block block = { .notifier_call = told };
static struct pernet_operations ops = { .init = open_net };

static int __init begin(void)
{
	return bus_register(&bus) ?: driver_register(&driver) ?: register_filesystem(&type) ?: register_kprobe(&probe) ?:
		register_oom_notifier(&block) ?: register_pernet_subsys(&ops);
}

static void __exit end(void)
{
	unregister_pernet_subsys(&ops);
	unregister_oom_notifier(&block);
	unregister_kprobe(&probe);
	unregister_filesystem(&type);
	driver_unregister(&driver);
	bus_unregister(&bus);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
