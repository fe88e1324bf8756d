// SPDX-License-Identifier: MIT OR Apache-2.0
// Network devices: their names and numbers, and their life from registration to the last reference.
//
// How it works: `lo` is there from the first device on, as number 1; it is the runtime's. References that are left when a
// device is unregistered are told, where Linux would wait for ever.
#include "host.h"
#include <linux/bug.h>
#include <linux/kernel.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

static DEFINE_MUTEX(rtnl);
static RAW_NOTIFIER_HEAD(chain);
static LIST_HEAD(going);
/* The block that a device has while it is registered: the entry of its name. */
#define NAME_NODE 3

/* The first device, which is nobody's. */
static netdev_tx_t lo_xmit(struct sk_buff *skb, struct net_device *dev)
{
	unsigned int len = skb->len;

	skb_orphan(skb);
	skb->pkt_type = PACKET_HOST;
	dev->stats.tx_packets++;
	dev->stats.tx_bytes += len;
	if (netif_rx(skb) == NET_RX_SUCCESS) {
		dev->stats.rx_packets++;
		dev->stats.rx_bytes += len;
	}
	return NETDEV_TX_OK;
}

static const struct net_device_ops lo_ops = { .ndo_start_xmit = lo_xmit };

static void lo_setup(struct net_device *dev)
{
	dev->netdev_ops = &lo_ops;
	dev->type = ARPHRD_LOOPBACK;
	dev->mtu = 65536;
	dev->addr_len = ETH_ALEN;
	dev->flags = IFF_LOOPBACK | IFF_UP | IFF_RUNNING;
	dev->lltx = true;
}

static int next_index(void) { return (int)++init_net.ifindex; }

static void lo_is_there(void)
{
	struct net_device *lo;

	if (init_net.loopback_dev)
		return;
	lo = kapi_net_make(0, "lo", lo_setup, 1, 1, 0);
	if (!lo)
		return;
	lo->ifindex = next_index();
	lo->reg_state = NETREG_REGISTERED;
	set_bit(__LINK_STATE_START, &lo->state);
	dev_hold(lo);
	list_add(&lo->dev_list, &init_net.dev_base_head);
	init_net.loopback_dev = lo;
}

/* Names and numbers. */
struct net_device *kapi_first_net_device(struct net *net)
{
	lo_is_there();
	return list_first_entry_or_null(&net->dev_base_head, struct net_device, dev_list);
}

struct net_device *kapi_next_net_device(struct net_device *dev)
{
	return list_is_last(&dev->dev_list, &init_net.dev_base_head) ? NULL : list_next_entry(dev, dev_list);
}

struct net_device *__dev_get_by_name(struct net *net, const char *name)
{
	struct net_device *dev;

	for_each_netdev(net, dev)
		if (!strncmp(dev->name, name, IFNAMSIZ))
			return dev;
	return NULL;
}

struct net_device *__dev_get_by_index(struct net *net, int ifindex)
{
	struct net_device *dev;

	for_each_netdev(net, dev)
		if (dev->ifindex == ifindex)
			return dev;
	return NULL;
}

struct net_device *dev_get_by_name(struct net *net, const char *name)
{
	struct net_device *dev = __dev_get_by_name(net, name);

	dev_hold(dev);
	return dev;
}

struct net_device *dev_get_by_index(struct net *net, int ifindex)
{
	struct net_device *dev = __dev_get_by_index(net, ifindex);

	dev_hold(dev);
	return dev;
}

/* The lowest number that is free, for a name with %d. */
int dev_alloc_name(struct net_device *dev, const char *name)
{
	char buf[IFNAMSIZ];
	int i;

	if (!strstr(name, "%d"))
		return __dev_get_by_name(&init_net, name) ? -EEXIST : (int)strscpy(dev->name, name, IFNAMSIZ) * 0;
	for (i = 0; i < 32768; i++) {
		snprintf(buf, sizeof(buf), name, i);
		if (!__dev_get_by_name(&init_net, buf)) {
			strscpy(dev->name, buf, IFNAMSIZ);
			return i;
		}
	}
	return -ENFILE;
}

/* Whom it concerns. */
int call_netdevice_notifiers(unsigned long what, struct net_device *dev)
{
	struct {
		struct net_device *dev;
		void *extack;
	} info = { .dev = dev };

	return raw_notifier_call_chain(&chain, what, &info);
}

static void tell_of_all(struct notifier_block *nb, unsigned long what, unsigned long up)
{
	struct net_device *dev;

	for_each_netdev(&init_net, dev) {
		struct net_device *info = dev;

		nb->notifier_call(nb, what, &info);
		if (dev->flags & IFF_UP)
			nb->notifier_call(nb, up, &info);
	}
}

int register_netdevice_notifier(struct notifier_block *nb)
{
	int error;

	rtnl_lock();
	error = raw_notifier_chain_register(&chain, nb);
	if (!error) {
		kapi_stands_by(nb, "the notifier block", (const void *)nb->notifier_call);
		tell_of_all(nb, NETDEV_REGISTER, NETDEV_UP);
	}
	rtnl_unlock();
	return error;
}

int unregister_netdevice_notifier(struct notifier_block *nb)
{
	int error;

	rtnl_lock();
	error = raw_notifier_chain_unregister(&chain, nb);
	if (!error) {
		kapi_gone(nb);
		tell_of_all(nb, NETDEV_UNREGISTER, NETDEV_DOWN);
	}
	rtnl_unlock();
	return error;
}

/* Life. */
int kapi_dev_open(struct net_device *dev)
{
	const struct net_device_ops *ops = dev->netdev_ops;
	int error = 0;

	if (dev->reg_state != NETREG_REGISTERED)
		return -ENODEV;
	if (dev->flags & IFF_UP)
		return 0;
	error = notifier_to_errno(call_netdevice_notifiers(NETDEV_PRE_UP, dev));
	if (error)
		return error;
	set_bit(__LINK_STATE_START, &dev->state);
	if (ops->ndo_validate_addr)
		error = ops->ndo_validate_addr(dev);
	if (!error && ops->ndo_open)
		error = ops->ndo_open(dev);
	if (error) {
		clear_bit(__LINK_STATE_START, &dev->state);
		return error;
	}
	dev->flags |= IFF_UP | IFF_RUNNING;
	if (ops->ndo_set_rx_mode)
		ops->ndo_set_rx_mode(dev);
	kapi_net_begin(dev);
	call_netdevice_notifiers(NETDEV_UP, dev);
	return 0;
}

void dev_close(struct net_device *dev)
{
	if (!(dev->flags & IFF_UP))
		return;
	call_netdevice_notifiers(NETDEV_GOING_DOWN, dev);
	clear_bit(__LINK_STATE_START, &dev->state);
	dev->flags &= ~(unsigned int)(IFF_UP | IFF_RUNNING);
	kapi_net_end(dev);
	if (dev->netdev_ops->ndo_stop)
		dev->netdev_ops->ndo_stop(dev);
	kapi_net_end(dev);
	call_netdevice_notifiers(NETDEV_DOWN, dev);
}

static int counters_of(struct net_device *dev)
{
	if (dev->pcpu_stat_type == NETDEV_PCPU_STAT_TSTATS)
		dev->tstats = alloc_percpu(struct pcpu_sw_netstats);
	else if (dev->pcpu_stat_type == NETDEV_PCPU_STAT_LSTATS)
		dev->lstats = alloc_percpu(struct pcpu_lstats);
	else
		return 0;
	return dev->kapi_pcpu_stats ? 0 : -ENOMEM;
}

static void drop_counters(struct net_device *dev)
{
	if (dev->pcpu_stat_type == NETDEV_PCPU_STAT_NONE)
		return;
	free_percpu(dev->kapi_pcpu_stats);
	dev->kapi_pcpu_stats = NULL;
}

int register_netdevice(struct net_device *dev)
{
	int error;

	ASSERT_RTNL();
	might_sleep();
	BUG_ON(dev->reg_state != NETREG_UNINITIALIZED);
	lo_is_there();
	dev->kapi_site = kapi_module_site();
	error = dev_alloc_name(dev, dev->name);
	if (error < 0)
		return error;
	error = counters_of(dev);
	if (!error && dev->netdev_ops->ndo_init) {
		error = dev->netdev_ops->ndo_init(dev);
		error = error > 0 ? -EIO : error;
		if (error)
			drop_counters(dev);
	}
	if (error)
		return error;
	dev->ifindex = dev->ifindex ?: next_index();
	dev->reg_state = NETREG_REGISTERED;
	if (dev->mtu < ETH_MIN_MTU && !dev->mtu)
		dev->mtu = 0;
	dev_hold(dev);
	list_add_tail(&dev->dev_list, &init_net.dev_base_head);
	dev->kapi_blocks[NAME_NODE] = kapi_net_take(KAPI_NETDEV_NAME_NODE_BYTES, dev->kapi_maker);
	kapi_stands_at(dev, "the network device", dev->name, dev->kapi_site);
	error = notifier_to_errno(call_netdevice_notifiers(NETDEV_REGISTER, dev));
	if (!error)
		return 0;
	unregister_netdevice(dev);
	return error;
}

/* Off the lists; what is left of it goes when the lock is given up. */
static void take_off(struct net_device *dev)
{
	dev_close(dev);
	list_del_init(&dev->dev_list);
	dev->reg_state = NETREG_UNREGISTERING;
	kapi_gone(dev);
	synchronize_rcu();
	call_netdevice_notifiers(NETDEV_UNREGISTER, dev);
	if (dev->netdev_ops->ndo_uninit)
		dev->netdev_ops->ndo_uninit(dev);
	drop_counters(dev);
	kapi_kfree_for(dev->kapi_blocks[NAME_NODE], dev->kapi_site);
	dev->kapi_blocks[NAME_NODE] = NULL;
	dev_put(dev);
	dev->reg_state = NETREG_UNREGISTERED;
}

void free_netdev(struct net_device *dev)
{
	unsigned long site = kapi_module_site();
	struct napi_struct *napi, *next;
	char text[96];

	might_sleep();
	if (kapi_net_freed_again(dev, site))
		return;
	if (dev->reg_state == NETREG_REGISTERED) {
		kapi_misuse(KAPI_LEFT, text, (size_t)scnprintf(text, sizeof(text),
			    "the network device `%s` is registered in memory that is freed", dev->name), site);
		take_off(dev);
	}
	/* At the end of rtnl_lock() it goes by itself. */
	if (dev->reg_state == NETREG_UNREGISTERING) {
		dev->needs_free_netdev = true;
		return;
	}
	list_for_each_entry_safe(napi, next, &dev->napi_list, dev_list)
		netif_napi_del(napi);
	dev->reg_state = NETREG_RELEASED;
	kapi_net_give_back(dev, site);
}

void unregister_netdevice_queue(struct net_device *dev, struct list_head *head)
{
	ASSERT_RTNL();
	if (dev->reg_state != NETREG_REGISTERED) {
		pr_debug("unregister_netdevice: device %s/%p never was registered\n", dev->name, dev);
		WARN_ON(1);
		return;
	}
	dev->kapi_site = kapi_module_site();
	take_off(dev);
	dev->reg_state = NETREG_UNREGISTERING;
	list_add_tail(&dev->kapi_later, &going);
}

void unregister_netdevice_many(struct list_head *head) { ASSERT_RTNL(); }

/* How long other users of a device have to give it up. */
#define WAIT_MS 100

static void wait_for_users(struct net_device *dev)
{
	char text[96];
	int ms;

	for (ms = 0; ms < WAIT_MS && netdev_refcnt_read(dev) > 0; ms++)
		kapi_host_sleep(1);
	if (netdev_refcnt_read(dev))
		kapi_misuse(KAPI_REFERENCE, text, (size_t)scnprintf(text, sizeof(text),
			    "the network device `%s` is unregistered with %d references, and never becomes free", dev->name,
			    netdev_refcnt_read(dev)), dev->kapi_site);
}

void rtnl_lock(void) { mutex_lock(&rtnl); }
int rtnl_trylock(void) { return mutex_trylock(&rtnl); }
int rtnl_is_locked(void) { return mutex_is_locked(&rtnl); }

void rtnl_unlock(void)
{
	struct net_device *dev, *next;
	LIST_HEAD(gone);

	list_splice_init(&going, &gone);
	mutex_unlock(&rtnl);
	list_for_each_entry_safe(dev, next, &gone, kapi_later) {
		wait_for_users(dev);
		list_del_init(&dev->kapi_later);
		dev->reg_state = NETREG_UNREGISTERED;
		if (dev->priv_destructor)
			dev->priv_destructor(dev);
		if (dev->destructor)
			dev->destructor(dev);
		else if (dev->needs_free_netdev)
			free_netdev(dev);
	}
}

int register_netdev(struct net_device *dev)
{
	int error;

	rtnl_lock();
	error = register_netdevice(dev);
	rtnl_unlock();
	return error;
}

void unregister_netdev(struct net_device *dev)
{
	rtnl_lock();
	unregister_netdevice(dev);
	rtnl_unlock();
}

int dev_set_mtu(struct net_device *dev, int mtu)
{
	int error = 0;

	if (mtu < 0 || (unsigned int)mtu < dev->min_mtu || (dev->max_mtu && (unsigned int)mtu > dev->max_mtu))
		return -EINVAL;
	if (dev->netdev_ops->ndo_change_mtu)
		error = dev->netdev_ops->ndo_change_mtu(dev, mtu);
	else
		dev->mtu = (unsigned int)mtu;
	if (!error)
		call_netdevice_notifiers(NETDEV_CHANGEMTU, dev);
	return error;
}

int dev_set_promiscuity(struct net_device *dev, int by)
{
	dev->promiscuity += by;
	dev->flags = dev->promiscuity ? dev->flags | IFF_PROMISC : dev->flags & ~(unsigned int)IFF_PROMISC;
	if (dev->netdev_ops->ndo_set_rx_mode)
		dev->netdev_ops->ndo_set_rx_mode(dev);
	return 0;
}

/* Kinds of devices. */
static LIST_HEAD(kinds);

int __rtnl_link_register(struct rtnl_link_ops *ops)
{
	struct rtnl_link_ops *other;

	list_for_each_entry(other, &kinds, list)
		if (!strcmp(other->kind, ops->kind))
			return -EEXIST;
	list_add_tail(&ops->list, &kinds);
	kapi_stands(ops, "the kind of network devices", ops->kind);
	return 0;
}

void __rtnl_link_unregister(struct rtnl_link_ops *ops)
{
	struct net_device *dev, *next;
	LIST_HEAD(head);

	list_for_each_entry_safe(dev, next, &init_net.dev_base_head, dev_list) {
		if (dev->rtnl_link_ops != ops)
			continue;
		if (ops->dellink)
			ops->dellink(dev, &head);
		else
			unregister_netdevice(dev);
	}
	list_del(&ops->list);
	kapi_gone(ops);
}

int rtnl_link_register(struct rtnl_link_ops *ops)
{
	int error;

	rtnl_lock();
	error = __rtnl_link_register(ops);
	rtnl_unlock();
	return error;
}

void rtnl_link_unregister(struct rtnl_link_ops *ops)
{
	rtnl_lock();
	__rtnl_link_unregister(ops);
	rtnl_unlock();
}
