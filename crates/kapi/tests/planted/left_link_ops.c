// left behind: the kind of network devices `planted` is still there
#include <linux/module.h>
#include <net/rtnetlink.h>

static void setup(struct net_device *dev)
{
}

static struct rtnl_link_ops ops = { .kind = "planted", .setup = setup };

static int __init begin(void)
{
	return rtnl_link_register(&ops); // in
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
