// Who listens to all frames, and to what becomes of devices: a handler of packets and a notifier, on the loopback device.
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

static unsigned int watch_id;
struct watch {
	unsigned int frames, bytes;
};

static int watch_frame(struct sk_buff *skb, struct net_device *dev, struct packet_type *pt, struct net_device *orig)
{
	struct watch *watch = net_generic(dev_net(dev), watch_id);

	watch->frames++;
	watch->bytes += skb->len;
	pr_info("watch: %s: %u bytes from %pI4, shared %d\n", dev->name, skb->len, &ip_hdr(skb)->saddr, skb_shared(skb));
	kfree_skb(skb);
	return NET_RX_SUCCESS;
}

static struct packet_type watch_type = {
	.type = cpu_to_be16(ETH_P_ALL),
	.func = watch_frame,
};

static int watch_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct net_device *dev = netdev_notifier_info_to_dev(info);

	switch (event) {
	case NETDEV_REGISTER:
		pr_info("watch: %s is there, type %u\n", dev->name, dev->type);
		break;
	case NETDEV_UP:
		pr_info("watch: %s is up\n", dev->name);
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block watch_notifier = { .notifier_call = watch_event };

static int __net_init watch_net_init(struct net *net)
{
	struct net_device *dev = dev_get_by_name(net, "lo");

	pr_info("watch: the first device is number %d, loopback %d\n", dev->ifindex, !!(dev->flags & IFF_LOOPBACK));
	dev_put(dev);
	return 0;
}

static void __net_exit watch_net_exit(struct net *net)
{
	struct watch *watch = net_generic(net, watch_id);

	pr_info("watch: %u frames, %u bytes\n", watch->frames, watch->bytes);
}

static struct pernet_operations watch_net = {
	.init = watch_net_init,
	.exit = watch_net_exit,
	.id = &watch_id,
	.size = sizeof(struct watch),
};

static int __init watch_init(void)
{
	int error = register_pernet_subsys(&watch_net);

	if (error)
		return error;
	error = register_netdevice_notifier(&watch_notifier);
	if (error) {
		unregister_pernet_subsys(&watch_net);
		return error;
	}
	dev_add_pack(&watch_type);
	return 0;
}

static void __exit watch_exit(void)
{
	dev_remove_pack(&watch_type);
	unregister_netdevice_notifier(&watch_notifier);
	unregister_pernet_subsys(&watch_net);
}

module_init(watch_init);
module_exit(watch_exit);
MODULE_LICENSE("GPL");
