/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The lock of all network devices' lists, and kinds of devices that users make by name.
 *
 * Linux counterpart: include/linux/rtnetlink.h, include/net/rtnetlink.h @ 6.1 to 7.3. Difference: no user makes a device
 * by its kind here; those that the module made go with it.
 */
#ifndef _LINUX_RTNETLINK_H
#define _LINUX_RTNETLINK_H

#include <linux/bug.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>

extern void rtnl_lock(void);
extern void rtnl_unlock(void);
extern int rtnl_trylock(void);
extern int rtnl_is_locked(void);
#define ASSERT_RTNL() WARN_ONCE(!rtnl_is_locked(), "RTNL: assertion failed at %s (%d)\n", __FILE__, __LINE__)
#define rtnl_dereference(p) (p)
#define rcu_dereference_rtnl(p) (p)

struct rtnl_link_ops {
	struct list_head list;
	const char *kind;
	size_t priv_size;
	void (*setup)(struct net_device *dev);
	bool netns_refund;
	unsigned int maxtype;
	const struct nla_policy *policy;
	int (*validate)(struct nlattr *tb[], struct nlattr *data[], struct netlink_ext_ack *extack);
	void (*dellink)(struct net_device *dev, struct list_head *head);
	size_t (*get_size)(const struct net_device *dev);
	int (*fill_info)(struct sk_buff *skb, const struct net_device *dev);
	unsigned int (*get_num_tx_queues)(void);
	unsigned int (*get_num_rx_queues)(void);
};

/* Attributes of a device. */
enum {
	IFLA_UNSPEC,
	IFLA_ADDRESS,
	IFLA_BROADCAST,
	IFLA_IFNAME,
	IFLA_MTU,
	IFLA_LINK,
};
#define MODULE_ALIAS_RTNL_LINK(kind) MODULE_ALIAS("rtnl-link-" kind)

extern int rtnl_link_register(struct rtnl_link_ops *ops);
/* Unregisters the devices of the kind, too. */
extern void rtnl_link_unregister(struct rtnl_link_ops *ops);
extern int __rtnl_link_register(struct rtnl_link_ops *ops);
extern void __rtnl_link_unregister(struct rtnl_link_ops *ops);

#endif
