// A socket of netlink, as articles show it: a user's greeting is printed and answered, and whoever listens hears of it.
#include <linux/module.h>
#include <linux/netlink.h>
#include <linux/skbuff.h>
#include <net/netlink.h>
#include <net/sock.h>

#define NETLINK_HELLO 31
#define GROUP 1

static struct sock *nl_sk;

static void answer(int pid, const char *text)
{
	int size = strlen(text) + 1, error;
	struct sk_buff *skb = nlmsg_new(size, GFP_KERNEL);
	struct nlmsghdr *nlh;

	if (!skb)
		return;
	nlh = nlmsg_put(skb, 0, 0, NLMSG_DONE, size, 0);
	NETLINK_CB(skb).dst_group = 0;
	memcpy(nlmsg_data(nlh), text, size);
	error = nlmsg_unicast(nl_sk, skb, pid);
	if (error < 0)
		pr_info("hello: %d while sending to the user\n", error);
}

static void announce(const char *text)
{
	struct sk_buff *skb = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	struct nlmsghdr *nlh;
	int error;

	if (!skb)
		return;
	nlh = nlmsg_put(skb, 0, 1, NLMSG_DONE, strlen(text) + 1, 0);
	if (!nlh) {
		nlmsg_free(skb);
		return;
	}
	strcpy(nlmsg_data(nlh), text);
	nlmsg_end(skb, nlh);
	error = nlmsg_multicast(nl_sk, skb, 0, GROUP, GFP_KERNEL);
	if (error)
		pr_info("hello: no listener for %s (%d)\n", text, error);
}

static void hello_input(struct sk_buff *skb)
{
	struct nlmsghdr *nlh = nlmsg_hdr(skb);

	pr_info("hello: the user says %s in %d bytes\n", (char *)nlmsg_data(nlh), nlmsg_len(nlh));
	announce("somebody came");
	answer(NETLINK_CB(skb).portid, "Hello from the kernel");
}

static int __init hello_init(void)
{
	struct netlink_kernel_cfg cfg = {
		.groups = GROUP,
		.input = hello_input,
	};

	nl_sk = netlink_kernel_create(&init_net, NETLINK_HELLO, &cfg);
	if (!nl_sk) {
		pr_err("hello: error creating the socket\n");
		return -ENOMEM;
	}
	pr_info("hello: a second one is refused: %d\n", !netlink_kernel_create(&init_net, NETLINK_HELLO, &cfg));
	announce("early");
	answer(1, "to whom");
	return 0;
}

static void __exit hello_exit(void)
{
	netlink_kernel_release(nl_sk);
}

module_init(hello_init);
module_exit(hello_exit);
MODULE_LICENSE("GPL");
