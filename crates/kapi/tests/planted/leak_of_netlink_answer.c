// leak
// do: netlink 31 hello
#include <linux/module.h>
#include <net/netlink.h>
#include <net/sock.h>

static struct sock *sk;

static void input(struct sk_buff *skb)
{
	struct sk_buff *answer = nlmsg_new(64, GFP_KERNEL); // allocated by

	if (answer)
		nlmsg_put(answer, 0, 0, NLMSG_DONE, 8, 0);
}

static int __init begin(void)
{
	struct netlink_kernel_cfg cfg = { .input = input };

	sk = netlink_kernel_create(&init_net, 31, &cfg);
	return sk ? 0 : -ENOMEM;
}

static void __exit end(void)
{
	netlink_kernel_release(sk);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
