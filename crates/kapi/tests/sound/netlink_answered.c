// Nothing is wrong here: a socket of netlink that answers, and refuses.
// do: netlink 20 type=16 hello
// do: netlink 20 type=17 refused
#include <linux/module.h>
#include <net/netlink.h>
#include <net/sock.h>

static struct sock *sk;

static int message(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct sk_buff *answer;

	if (nlh->nlmsg_type != NLMSG_MIN_TYPE) {
		NL_SET_ERR_MSG(extack, "not this one");
		return -EOPNOTSUPP;
	}
	answer = nlmsg_new(16, GFP_KERNEL);
	if (!answer)
		return -ENOMEM;
	strcpy(nlmsg_data(nlmsg_put(answer, 0, nlh->nlmsg_seq, NLMSG_DONE, 8, 0)), "answer");
	return nlmsg_unicast(sk, answer, NETLINK_CB(skb).portid);
}

static void input(struct sk_buff *skb)
{
	netlink_rcv_skb(skb, message);
}

static int __init begin(void)
{
	struct netlink_kernel_cfg cfg = { .input = input };

	sk = netlink_kernel_create(&init_net, 20, &cfg);
	return sk ? 0 : -ENOMEM;
}

static void __exit end(void)
{
	netlink_kernel_release(sk);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
