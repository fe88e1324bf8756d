/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Queues of frames that a device is to send: a part of <linux/netdevice.h>, which includes it. */
#ifndef _KAPI_NET_QUEUE_H
#define _KAPI_NET_QUEUE_H

static inline struct netdev_queue *netdev_get_tx_queue(const struct net_device *dev, unsigned int index)
{
	return &dev->_tx[index];
}
static inline u16 netdev_pick_tx(struct net_device *dev, struct sk_buff *skb, struct net_device *sb_dev) { return 0; }
extern void netif_tx_wake_queue(struct netdev_queue *txq);
static inline void netif_tx_start_queue(struct netdev_queue *txq) { clear_bit(__QUEUE_STATE_DRV_XOFF, &txq->state); }
static inline void netif_tx_stop_queue(struct netdev_queue *txq) { set_bit(__QUEUE_STATE_DRV_XOFF, &txq->state); }
static inline bool netif_tx_queue_stopped(const struct netdev_queue *txq)
{
	return test_bit(__QUEUE_STATE_DRV_XOFF, &txq->state);
}
static inline bool netif_xmit_stopped(const struct netdev_queue *txq) { return netif_tx_queue_stopped(txq); }
static inline void netif_start_queue(struct net_device *dev) { netif_tx_start_queue(dev->_tx); }
static inline void netif_stop_queue(struct net_device *dev) { netif_tx_stop_queue(dev->_tx); }
static inline void netif_wake_queue(struct net_device *dev) { netif_tx_wake_queue(dev->_tx); }
static inline bool netif_queue_stopped(const struct net_device *dev) { return netif_tx_queue_stopped(dev->_tx); }
static inline void netif_start_subqueue(struct net_device *dev, u16 i) { netif_tx_start_queue(&dev->_tx[i]); }
static inline void netif_stop_subqueue(struct net_device *dev, u16 i) { netif_tx_stop_queue(&dev->_tx[i]); }
static inline void netif_wake_subqueue(struct net_device *dev, u16 i) { netif_tx_wake_queue(&dev->_tx[i]); }
extern void netif_tx_start_all_queues(struct net_device *dev);
extern void netif_tx_stop_all_queues(struct net_device *dev);
extern void netif_tx_wake_all_queues(struct net_device *dev);
static inline void netif_tx_disable(struct net_device *dev) { netif_tx_stop_all_queues(dev); }
extern void netif_trans_update(struct net_device *dev);
static inline void txq_trans_cond_update(struct netdev_queue *txq) { txq->trans_start = jiffies; }
static inline void netdev_sent_queue(struct net_device *dev, unsigned int bytes) { }
static inline void netdev_completed_queue(struct net_device *dev, unsigned int packets, unsigned int bytes) { }
static inline void netdev_reset_queue(struct net_device *dev) { }
static inline bool netdev_xmit_more(void) { return false; }
static inline int netif_set_real_num_tx_queues(struct net_device *dev, unsigned int n)
{
	return n < 1 || n > dev->num_tx_queues ? -EINVAL : (int)(dev->real_num_tx_queues = n) * 0;
}
static inline int netif_set_real_num_rx_queues(struct net_device *dev, unsigned int n)
{
	return n < 1 || n > dev->num_rx_queues ? -EINVAL : (int)(dev->real_num_rx_queues = n) * 0;
}

static inline struct netdev_queue *skb_get_tx_queue(const struct net_device *dev, const struct sk_buff *skb)
{
	return netdev_get_tx_queue(dev, skb_get_queue_mapping(skb));
}
static inline void netdev_tx_sent_queue(struct netdev_queue *txq, unsigned int bytes) { }
static inline void netdev_tx_completed_queue(struct netdev_queue *txq, unsigned int packets, unsigned int bytes) { }
static inline void netdev_tx_reset_queue(struct netdev_queue *txq) { }
static inline bool netif_xmit_frozen_or_stopped(const struct netdev_queue *txq) { return netif_tx_queue_stopped(txq); }
static inline bool netif_xmit_frozen_or_drv_stopped(const struct netdev_queue *txq) { return netif_tx_queue_stopped(txq); }
static inline bool __netif_subqueue_stopped(const struct net_device *dev, u16 i) { return netif_tx_queue_stopped(&dev->_tx[i]); }
static inline bool netif_subqueue_stopped(const struct net_device *dev, struct sk_buff *skb)
{
	return __netif_subqueue_stopped(dev, skb_get_queue_mapping(skb));
}
static inline bool netif_is_multiqueue(const struct net_device *dev) { return dev->num_tx_queues > 1; }
static inline void netif_schedule_queue(struct netdev_queue *txq) { netif_tx_wake_queue(txq); }
static inline int netif_set_real_num_queues(struct net_device *dev, unsigned int txq, unsigned int rxq)
{
	int error = netif_set_real_num_tx_queues(dev, txq);

	return error ?: netif_set_real_num_rx_queues(dev, rxq);
}
static inline unsigned long dev_trans_start(struct net_device *dev) { return READ_ONCE(dev->_tx->trans_start); }
static inline void txq_trans_update(struct netdev_queue *txq) { WRITE_ONCE(txq->trans_start, jiffies); }
/* The lock of a queue, under which ndo_start_xmit() is called. */
extern void __netif_tx_lock(struct netdev_queue *txq, int cpu);
extern void __netif_tx_unlock(struct netdev_queue *txq);
extern bool __netif_tx_trylock(struct netdev_queue *txq);
extern void netif_tx_lock(struct net_device *dev);
extern void netif_tx_unlock(struct net_device *dev);
static inline void __netif_tx_lock_bh(struct netdev_queue *txq)
{
	local_bh_disable();
	__netif_tx_lock(txq, 0);
}
static inline void __netif_tx_unlock_bh(struct netdev_queue *txq)
{
	__netif_tx_unlock(txq);
	local_bh_enable();
}
static inline void netif_tx_lock_bh(struct net_device *dev)
{
	local_bh_disable();
	netif_tx_lock(dev);
}
static inline void netif_tx_unlock_bh(struct net_device *dev)
{
	netif_tx_unlock(dev);
	local_bh_enable();
}

#endif
