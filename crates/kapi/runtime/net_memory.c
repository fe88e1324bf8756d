// SPDX-License-Identifier: MIT OR Apache-2.0
// The memory of network devices: as many blocks of kmalloc's as Linux asks for, of the sizes that Linux asks for.
//
// How it works: a device with the driver's data, its queues, the entry of its address and, in newer kernels, its settings are
// blocks of the caller's, so that one which is not freed is a leak. How large they are says kapi/bytes.h.
#include "host.h"
#include <linux/bug.h>
#include <linux/kernel.h>
#include <linux/netdevice.h>
#include <linux/proc_fs.h>
#include <linux/slab.h>

struct net init_net = { .dev_base_head = LIST_HEAD_INIT(init_net.dev_base_head), .proc_net = &kapi_proc_net };

/* Where in the entry of its list a device's address stands, behind the list's links and the tree's. */
#define ADDR_AT 40

void *kapi_net_take(size_t bytes, unsigned long site)
{
	void *p = site ? kapi_kmalloc_for(bytes, GFP_KERNEL | __GFP_ZERO, site) : kapi_alloc(bytes);

	return p && !site ? memset(p, 0, bytes) : p;
}

/* Blocks that newer kernels have beside a device: they come with it, and go with it. */
static bool take_blocks(struct net_device *dev, unsigned int queues, unsigned long site)
{
	const size_t bytes[] = { KAPI_ETHTOOL_NETDEV_STATE_BYTES, KAPI_NETDEV_CONFIG_BYTES, queues * KAPI_NAPI_CONFIG_BYTES };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bytes); i++) {
		dev->kapi_blocks[i] = bytes[i] ? kapi_net_take(bytes[i], site) : NULL;
		if (bytes[i] && !dev->kapi_blocks[i])
			return false;
	}
	return true;
}

/* The devices that were freed last, whose memory says nothing any more: one that is freed again is told as kfree() tells it. */
static struct {
	struct net_device *dev;
	void *block;
} freed[8];
static unsigned int freed_next;

static void *freed_block(const struct net_device *dev)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(freed); i++)
		if (freed[i].dev == dev)
			return freed[i].block;
	return NULL;
}

bool kapi_net_freed_again(const struct net_device *dev, unsigned long site)
{
	void *block = freed_block(dev);

	if (block)
		kapi_kfree_for(block, site);
	return block;
}

static void remember(struct net_device *dev, bool is_freed)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(freed); i++)
		if (freed[i].dev == dev)
			freed[i].dev = NULL;
	if (!is_freed)
		return;
	freed[freed_next].dev = dev;
	freed[freed_next].block = (char *)dev - dev->padded;
	freed_next = (freed_next + 1) % ARRAY_SIZE(freed);
}

static void flush(struct netdev_hw_addr_list *list, unsigned long site)
{
	struct netdev_hw_addr *ha, *next;

	list_for_each_entry_safe(ha, next, &list->list, list)
		kapi_kfree_for(ha, site);
}

void kapi_net_give_back(struct net_device *dev, unsigned long site)
{
	unsigned int i;

	remember(dev, true);
	flush(&dev->uc, site);
	flush(&dev->mc, site);
	kapi_kfree_for(dev->_tx, site);
	kapi_kfree_for(dev->_rx, site);
	kapi_kfree_for(dev->kapi_addr ? dev->kapi_addr - ADDR_AT : NULL, site);
	for (i = 0; i < ARRAY_SIZE(dev->kapi_blocks); i++)
		kapi_kfree_for(dev->kapi_blocks[i], site);
	kapi_kfree_for((char *)dev - dev->padded, site);
}

/* Up to 6.10 the block has room to begin at a multiple of NETDEV_ALIGN. */
static struct net_device *block(size_t priv, unsigned long site)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
	char *p = kapi_net_take(sizeof(struct net_device) + priv + NETDEV_ALIGN - 1, site);
	struct net_device *dev = (struct net_device *)PTR_ALIGN(p, NETDEV_ALIGN);

	if (!p)
		return NULL;
	dev->padded = (unsigned short)((char *)dev - p);
	return dev;
#else
	return kapi_net_take(sizeof(struct net_device) + priv, site);
#endif
}

struct net_device *kapi_net_make(size_t size, const char *name, void (*setup)(struct net_device *dev), unsigned int txqs,
				 unsigned int rxqs, unsigned long site)
{
	struct net_device *dev = block(size, site);
	unsigned char *entry;
	unsigned int i;

	if (!dev)
		return NULL;
	remember(dev, false);
	dev->_tx = kapi_net_take(txqs * sizeof(*dev->_tx), site);
	dev->_rx = kapi_net_take(rxqs * sizeof(*dev->_rx), site);
	entry = kapi_net_take(KAPI_NETDEV_HW_ADDR_BYTES, site);
	dev->kapi_addr = entry ? entry + ADDR_AT : NULL;
	if (!dev->_tx || !dev->_rx || !entry || !take_blocks(dev, max(txqs, rxqs), site)) {
		kapi_net_give_back(dev, site);
		return NULL;
	}
	dev->dev_addr = dev->kapi_addr;
	dev->kapi_maker = site;
	dev->num_tx_queues = dev->real_num_tx_queues = txqs;
	dev->num_rx_queues = dev->real_num_rx_queues = rxqs;
	for (i = 0; i < txqs; i++) {
		dev->_tx[i].dev = dev;
		skb_queue_head_init(&dev->_tx[i].kapi_waits);
		INIT_LIST_HEAD(&dev->_tx[i].kapi_woken);
	}
	for (i = 0; i < rxqs; i++)
		dev->_rx[i].dev = dev;
	INIT_LIST_HEAD(&dev->napi_list);
	INIT_LIST_HEAD(&dev->dev_list);
	INIT_LIST_HEAD(&dev->kapi_later);
	INIT_LIST_HEAD(&dev->uc.list);
	INIT_LIST_HEAD(&dev->mc.list);
	dev_net_set(dev, &init_net);
	dev->min_mtu = 0;
	dev->max_mtu = 0;
	dev->tx_queue_len = 1000;
	setup(dev);
	strscpy(dev->name, name, sizeof(dev->name));
	dev->dev.init_name = dev->name;
	return dev;
}

struct net_device *alloc_netdev_mqs(int size, const char *name, unsigned char name_type, void (*setup)(struct net_device *dev),
				    unsigned int txqs, unsigned int rxqs)
{
	struct net_device *dev;

	might_sleep();
	if (WARN_ON(strlen(name) >= IFNAMSIZ || txqs < 1 || rxqs < 1))
		return NULL;
	dev = kapi_net_make((size_t)size, name, setup, txqs, rxqs, kapi_module_site());
	if (dev)
		dev->name_assign_type = name_type;
	return dev;
}
