// left behind: the netlink socket of protocol `31` is still there
#include <linux/module.h>
#include <linux/netlink.h>

static struct sock *sk;

static void input(struct sk_buff *skb)
{
}

static int __init begin(void)
{
	struct netlink_kernel_cfg cfg = { .input = input };

	sk = netlink_kernel_create(&init_net, 31, &cfg); // in
	return sk ? 0 : -ENOMEM;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
