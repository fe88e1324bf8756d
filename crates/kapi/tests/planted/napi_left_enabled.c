// the poller `poll` of `eth0` is enabled where it goes
// do: ifup eth0
#include <linux/etherdevice.h>
#include <linux/module.h>

struct card {
	struct napi_struct napi;
};

static int poll(struct napi_struct *napi, int budget)
{
	napi_complete_done(napi, 0);
	return 0;
}

static netdev_tx_t send(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static int card_open(struct net_device *dev)
{
	struct card *card = netdev_priv(dev);

	napi_enable(&card->napi);
	netif_start_queue(dev);
	return 0;
}

static int card_stop(struct net_device *dev)
{
	netif_stop_queue(dev);
	return 0;
}

static const struct net_device_ops ops = { .ndo_open = card_open, .ndo_stop = card_stop, .ndo_start_xmit = send };
static struct net_device *dev;

static int __init begin(void)
{
	struct card *card;
	int error;

	dev = alloc_etherdev(sizeof(*card));
	if (!dev)
		return -ENOMEM;
	dev->netdev_ops = &ops;
	card = netdev_priv(dev);
	netif_napi_add(dev, &card->napi, poll);
	error = register_netdev(dev);
	if (error)
		free_netdev(dev);
	return error;
}

static void __exit end(void)
{
	struct card *card = netdev_priv(dev);

	unregister_netdev(dev);
	netif_napi_del(&card->napi); // in
	free_netdev(dev);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
