/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The network that devices and sockets are of: there is one, the first. What a module registers for each has its functions
 * called for that one.
 *
 * Linux counterpart: include/net/net_namespace.h and include/net/netns/generic.h @ 6.12.
 */
#ifndef _NET_NET_NAMESPACE_H
#define _NET_NET_NAMESPACE_H

#include <linux/init.h>
#include <linux/list.h>
#include <linux/types.h>

struct net_device;
struct proc_dir_entry;

struct net {
	unsigned int ifindex;
	struct list_head dev_base_head;
	struct net_device *loopback_dev;
	struct proc_dir_entry *proc_net;
	void *genl_sock;
};
extern struct net init_net;

struct pernet_operations {
	struct list_head list;
	int (*init)(struct net *net);
	void (*pre_exit)(struct net *net);
	void (*exit)(struct net *net);
	void (*exit_batch)(struct list_head *net_exit_list);
	unsigned int *id;
	size_t size;
	void *kapi_data;
};

extern int register_pernet_subsys(struct pernet_operations *ops);
extern void unregister_pernet_subsys(struct pernet_operations *ops);
extern int register_pernet_device(struct pernet_operations *ops);
extern void unregister_pernet_device(struct pernet_operations *ops);
/* Return: the bytes that were asked for with that number. */
extern void *net_generic(const struct net *net, unsigned int id);

typedef struct {
	struct net *net;
} possible_net_t;
static inline struct net *read_pnet(const possible_net_t *pnet) { return &init_net; }
static inline void write_pnet(possible_net_t *pnet, struct net *net) { pnet->net = net; }
static inline struct net *get_net(struct net *net) { return net; }
static inline void put_net(struct net *net) { }
static inline bool net_eq(const struct net *a, const struct net *b) { return a == b; }

#endif
