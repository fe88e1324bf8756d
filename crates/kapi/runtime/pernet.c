// SPDX-License-Identifier: MIT OR Apache-2.0
// What a module has for each network: there is one.
#include "host.h"
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/netdevice.h>
#include <net/net_namespace.h>

/* Numbers that net_generic() takes. */
#define IDS_MAX 64
static void *data_of[IDS_MAX];

static void drop_data(struct pernet_operations *ops)
{
	if (!ops->id || !ops->size)
		return;
	data_of[*ops->id] = NULL;
	kapi_kfree_for(ops->kapi_data, kapi_module_site());
	ops->kapi_data = NULL;
}

static int take_data(struct pernet_operations *ops)
{
	unsigned int id = 1;

	if (!ops->id || !ops->size)
		return 0;
	while (id < IDS_MAX && data_of[id])
		id++;
	ops->kapi_data = id < IDS_MAX ? kapi_kmalloc_for(ops->size, GFP_KERNEL | __GFP_ZERO, kapi_module_site()) : NULL;
	if (!ops->kapi_data)
		return -ENOMEM;
	*ops->id = id;
	data_of[id] = ops->kapi_data;
	return 0;
}

int register_pernet_subsys(struct pernet_operations *ops)
{
	int error = take_data(ops);

	if (!error && ops->init) {
		error = ops->init(&init_net);
		if (error)
			drop_data(ops);
	}
	if (!error)
		kapi_stands_by(ops, "what is registered for each network, with", (const void *)(ops->init ?: (void *)ops));
	return error;
}

void unregister_pernet_subsys(struct pernet_operations *ops)
{
	LIST_HEAD(nets);

	if (ops->pre_exit)
		ops->pre_exit(&init_net);
	if (ops->exit)
		ops->exit(&init_net);
	if (ops->exit_batch)
		ops->exit_batch(&nets);
	drop_data(ops);
	kapi_gone(ops);
}

int register_pernet_device(struct pernet_operations *ops) { return register_pernet_subsys(ops); }
void unregister_pernet_device(struct pernet_operations *ops) { unregister_pernet_subsys(ops); }
void *net_generic(const struct net *net, unsigned int id) { return id < IDS_MAX ? data_of[id] : NULL; }
