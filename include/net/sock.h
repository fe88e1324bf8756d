/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sockets of the kernel's own: those of netlink, as far as modules look at them. */
#ifndef _NET_SOCK_H
#define _NET_SOCK_H

#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/types.h>
#include <net/net_namespace.h>
#include <kapi/bytes.h>

struct sock {
	unsigned short sk_family, sk_type;
	int sk_protocol;
	gfp_t sk_allocation;
	void *sk_user_data;
	struct sk_buff_head sk_receive_queue, sk_write_queue;
	void (*kapi_input)(struct sk_buff *skb);
	struct list_head kapi_list;
	/* Of netlink: whom it may tell by groups. */
	void *kapi_listeners;
	u8 kapi_rest[KAPI_SOCK_BYTES - 104];
};
KAPI_IS_LARGE(struct sock, KAPI_SOCK_BYTES);

static inline struct net *sock_net(const struct sock *sk) { return &init_net; }

#endif
