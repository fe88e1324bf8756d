// left behind: what is registered for each network, with `open_net` is still there
#include <linux/module.h>
#include <net/net_namespace.h>

static int __net_init open_net(struct net *net)
{
	return 0;
}

static struct pernet_operations ops = { .init = open_net };

static int __init begin(void)
{
	return register_pernet_subsys(&ops); // in
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
