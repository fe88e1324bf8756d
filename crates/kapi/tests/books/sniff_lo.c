// SPDX-License-Identifier: MIT OR Apache-2.0
// Who sends what by `lo`: a handler of packets, a file in /proc/net, and news of devices.
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/init.h>
#include <linux/skbuff.h>
#include <linux/netdevice.h>
#include <linux/if_packet.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <linux/tcp.h>
#include <linux/icmp.h>
#include <linux/inet.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <net/net_namespace.h>

static atomic_t udp_count = ATOMIC_INIT(0), other_count = ATOMIC_INIT(0);
static DEFINE_SPINLOCK(log_lock);
static LIST_HEAD(log);
struct rec {
	struct list_head l;
	__be32 s, d;
	u16 sp, dp;
	int len;
};

static int sniff_rcv(struct sk_buff *skb, struct net_device *dev, struct packet_type *pt, struct net_device *orig)
{
	struct iphdr *ih, _ih;
	struct udphdr *uh, _uh;
	struct rec *r;

	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NET_RX_DROP;
	ih = skb_header_pointer(skb, skb_network_offset(skb), sizeof(_ih), &_ih);
	if (!ih)
		goto drop;
	if (ih->protocol != IPPROTO_UDP) {
		atomic_inc(&other_count);
		goto drop;
	}
	uh = skb_header_pointer(skb, skb_network_offset(skb) + ih->ihl * 4, sizeof(_uh), &_uh);
	if (!uh)
		goto drop;
	atomic_inc(&udp_count);
	r = kmalloc(sizeof(*r), GFP_ATOMIC);
	if (r) {
		r->s = ih->saddr;
		r->d = ih->daddr;
		r->sp = ntohs(uh->source);
		r->dp = ntohs(uh->dest);
		r->len = ntohs(uh->len);
		spin_lock_bh(&log_lock);
		list_add_tail(&r->l, &log);
		spin_unlock_bh(&log_lock);
	}
	pr_info("sniff: %s %pI4:%u -> %pI4:%u len %u\n", dev->name, &ih->saddr, ntohs(uh->source), &ih->daddr, ntohs(uh->dest),
		ntohs(uh->len));
drop:
	kfree_skb(skb);
	return NET_RX_SUCCESS;
}
static struct packet_type sniff_pt __read_mostly = {
	.type = cpu_to_be16(ETH_P_ALL),
	.func = sniff_rcv,
};
static int sniff_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	switch (event) {
	case NETDEV_UP:
		pr_info("sniff: %s up, mtu %u\n", dev->name, dev->mtu);
		break;
	case NETDEV_DOWN:
		pr_info("sniff: %s down\n", dev->name);
		break;
	}
	return NOTIFY_DONE;
}
static struct notifier_block sniff_nb = { .notifier_call = sniff_event };

static int sniff_show(struct seq_file *m, void *v)
{
	struct rec *r;

	spin_lock_bh(&log_lock);
	list_for_each_entry(r, &log, l)
		seq_printf(m, "%pI4 %pI4 %u\n", &r->s, &r->d, r->len);
	spin_unlock_bh(&log_lock);
	return 0;
}

static struct net_device *target;

static int __net_init sniff_net_init(struct net *net)
{
	if (!proc_create_single("sniff", 0444, net->proc_net, sniff_show))
		return -ENOMEM;
	return 0;
}
static void __net_exit sniff_net_exit(struct net *net)
{
	remove_proc_entry("sniff", net->proc_net);
}
static struct pernet_operations sniff_net_ops = { .init = sniff_net_init, .exit = sniff_net_exit };

static int __init sniff_init(void)
{
	int err = register_pernet_subsys(&sniff_net_ops);

	if (err)
		return err;
	err = register_netdevice_notifier(&sniff_nb);
	if (err)
		goto out;
	target = dev_get_by_name(&init_net, "lo");
	if (!target) {
		err = -ENODEV;
		goto out2;
	}
	sniff_pt.dev = target;
	dev_add_pack(&sniff_pt);
	return 0;
out2:
	unregister_netdevice_notifier(&sniff_nb);
out:
	unregister_pernet_subsys(&sniff_net_ops);
	return err;
}
static void __exit sniff_exit(void)
{
	struct rec *r, *t;

	dev_remove_pack(&sniff_pt);
	dev_put(target);
	unregister_netdevice_notifier(&sniff_nb);
	unregister_pernet_subsys(&sniff_net_ops);
	list_for_each_entry_safe(r, t, &log, l)
		kfree(r);
}
module_init(sniff_init);
module_exit(sniff_exit);
MODULE_LICENSE("GPL");
