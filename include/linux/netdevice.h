/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Network devices: their memory, their life, and the frames that they give and take.
 *
 * How it works: a device is one block of kmalloc's, with the driver's own data behind it, and a block for its queues each.
 * What a device sends goes to ndo_start_xmit() under the lock of its queue; what it received goes to who asked for such
 * frames by dev_add_pack(), in soft interrupts, and waits at last for the step `received` of --do. Nothing else speaks a
 * protocol here. A device that transmits into netif_rx() of another one is a cable.
 *
 * Linux counterpart: include/linux/netdevice.h @ 6.1 to 7.3. Differences from Linux: one network, one queue of frames
 * for all CPUs, no offloads, no traffic control, and no folder in /sys/class/net.
 */
#ifndef _LINUX_NETDEVICE_H
#define _LINUX_NETDEVICE_H

#include <linux/device.h>
#include <linux/if_ether.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/rculist.h>
#include <linux/skbuff.h>
#include <linux/smp.h>
#include <linux/timer.h>
#include <linux/types.h>
#include <linux/u64_stats_sync.h>
#include <linux/version.h>
#include <net/net_namespace.h>
#include <kapi/bytes.h>

#define MAX_ADDR_LEN 32
/* Room for the headers of networks below. */
#define LL_MAX_HEADER 128
#define MAX_HEADER (LL_MAX_HEADER + 48)
#define LL_RESERVED_SPACE(dev) ((((dev)->hard_header_len + (dev)->needed_headroom) & ~15) + 16)
#define NAPI_POLL_WEIGHT 64
#define NETDEV_ALIGN 32

struct net_device;
struct ethtool_ops;
struct netlink_ext_ack;
struct rtnl_link_ops;
struct ethtool_drvinfo;

enum netdev_tx {
	NETDEV_TX_OK = 0x00,
	NETDEV_TX_BUSY = 0x10,
};
typedef enum netdev_tx netdev_tx_t;
typedef u64 netdev_features_t;

enum {
	NETIF_F_SG = 1 << 0,
	NETIF_F_IP_CSUM = 1 << 1,
	NETIF_F_HW_CSUM = 1 << 3,
	NETIF_F_IPV6_CSUM = 1 << 4,
	NETIF_F_HIGHDMA = 1 << 5,
	NETIF_F_FRAGLIST = 1 << 6,
	NETIF_F_HW_VLAN_CTAG_TX = 1 << 7,
	NETIF_F_LLTX = 1 << 12,
	NETIF_F_GRO = 1 << 14,
	NETIF_F_TSO = 1 << 16,
	NETIF_F_GSO_SOFTWARE = 1 << 17,
	NETIF_F_RXCSUM = 1 << 29,
	NETIF_F_LOOPBACK = 1 << 30,
};

/* Of dev->priv_flags. */
enum {
	IFF_EBRIDGE = 1 << 1,
	IFF_DONT_BRIDGE = 1 << 11,
	IFF_LIVE_ADDR_CHANGE = 1 << 15,
	IFF_TX_SKB_SHARING = 1 << 16,
	IFF_UNICAST_FLT = 1 << 17,
	IFF_NO_QUEUE = 1 << 21,
};

enum {
	NET_NAME_UNKNOWN,
	NET_NAME_ENUM,
	NET_NAME_PREDICTABLE,
	NET_NAME_USER,
	NET_NAME_RENAMED,
};

/* What dev_queue_xmit() and netif_rx() return beside errors. */
enum {
	NET_XMIT_SUCCESS = 0,
	NET_XMIT_DROP = 1,
	NET_XMIT_CN = 2,
	NET_RX_SUCCESS = 0,
	NET_RX_DROP = 1,
};

enum {
	NETIF_MSG_DRV = 1 << 0,
	NETIF_MSG_PROBE = 1 << 1,
	NETIF_MSG_LINK = 1 << 2,
	NETIF_MSG_TIMER = 1 << 3,
	NETIF_MSG_IFDOWN = 1 << 4,
	NETIF_MSG_IFUP = 1 << 5,
	NETIF_MSG_RX_ERR = 1 << 6,
	NETIF_MSG_TX_ERR = 1 << 7,
	NETIF_MSG_TX_QUEUED = 1 << 8,
	NETIF_MSG_INTR = 1 << 9,
	NETIF_MSG_TX_DONE = 1 << 10,
	NETIF_MSG_RX_STATUS = 1 << 11,
	NETIF_MSG_PKTDATA = 1 << 12,
	NETIF_MSG_HW = 1 << 13,
	NETIF_MSG_WOL = 1 << 14,
};

struct net_device_stats {
	unsigned long rx_packets, tx_packets, rx_bytes, tx_bytes, rx_errors, tx_errors, rx_dropped, tx_dropped;
	unsigned long multicast, collisions, rx_length_errors, rx_over_errors, rx_crc_errors, rx_frame_errors;
	unsigned long rx_fifo_errors, rx_missed_errors, tx_aborted_errors, tx_carrier_errors, tx_fifo_errors;
	unsigned long tx_heartbeat_errors, tx_window_errors, rx_compressed, tx_compressed;
};

struct rtnl_link_stats64 {
	__u64 rx_packets, tx_packets, rx_bytes, tx_bytes, rx_errors, tx_errors, rx_dropped, tx_dropped;
	__u64 multicast, collisions, rx_length_errors, rx_over_errors, rx_crc_errors, rx_frame_errors;
	__u64 rx_fifo_errors, rx_missed_errors, tx_aborted_errors, tx_carrier_errors, tx_fifo_errors;
	__u64 tx_heartbeat_errors, tx_window_errors, rx_compressed, tx_compressed, rx_nohandler;
	__u64 rx_otherhost_dropped;
};

struct pcpu_sw_netstats {
	u64_stats_t rx_packets, rx_bytes, tx_packets, tx_bytes;
	struct u64_stats_sync syncp;
};

struct pcpu_lstats {
	u64_stats_t packets, bytes;
	struct u64_stats_sync syncp;
};

enum netdev_stat_type {
	NETDEV_PCPU_STAT_NONE,
	NETDEV_PCPU_STAT_LSTATS,
	NETDEV_PCPU_STAT_TSTATS,
	NETDEV_PCPU_STAT_DSTATS,
};

struct netdev_queue {
	struct net_device *dev;
	unsigned long state, trans_start;
	/* Who transmits, what waits for the queue to be woken, and whether it is to go on. */
	struct task_struct *xmit_lock_owner;
	struct sk_buff_head kapi_waits;
	struct list_head kapi_woken;
	u8 kapi_rest[KAPI_NETDEV_QUEUE_BYTES - 48 - sizeof(struct sk_buff_head)];
};
KAPI_IS_LARGE(struct netdev_queue, KAPI_NETDEV_QUEUE_BYTES);

struct netdev_rx_queue {
	struct net_device *dev;
	u8 kapi_rest[KAPI_NETDEV_RX_QUEUE_BYTES - 8];
};
KAPI_IS_LARGE(struct netdev_rx_queue, KAPI_NETDEV_RX_QUEUE_BYTES);

struct header_ops {
	int (*create)(struct sk_buff *skb, struct net_device *dev, unsigned short type, const void *daddr,
		      const void *saddr, unsigned int len);
	int (*parse)(const struct sk_buff *skb, unsigned char *haddr);
	int (*cache)(const void *neigh, void *hh, __be16 type);
	void (*cache_update)(void *hh, const struct net_device *dev, const unsigned char *haddr);
	bool (*validate)(const char *header, unsigned int len);
	int (*rebuild)(struct sk_buff *skb);
};

struct net_device_ops {
	int (*ndo_init)(struct net_device *dev);
	void (*ndo_uninit)(struct net_device *dev);
	int (*ndo_open)(struct net_device *dev);
	int (*ndo_stop)(struct net_device *dev);
	netdev_tx_t (*ndo_start_xmit)(struct sk_buff *skb, struct net_device *dev);
	netdev_features_t (*ndo_features_check)(struct sk_buff *skb, struct net_device *dev, netdev_features_t features);
	u16 (*ndo_select_queue)(struct net_device *dev, struct sk_buff *skb, struct net_device *sb_dev);
	void (*ndo_change_rx_flags)(struct net_device *dev, int flags);
	void (*ndo_set_rx_mode)(struct net_device *dev);
	int (*ndo_set_mac_address)(struct net_device *dev, void *addr);
	int (*ndo_validate_addr)(struct net_device *dev);
	int (*ndo_do_ioctl)(struct net_device *dev, struct ifreq *ifr, int cmd);
	int (*ndo_eth_ioctl)(struct net_device *dev, struct ifreq *ifr, int cmd);
	int (*ndo_siocdevprivate)(struct net_device *dev, struct ifreq *ifr, void __user *data, int cmd);
	int (*ndo_set_config)(struct net_device *dev, struct ifmap *map);
	int (*ndo_change_mtu)(struct net_device *dev, int new_mtu);
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 6, 0)
	void (*ndo_tx_timeout)(struct net_device *dev);
#else
	void (*ndo_tx_timeout)(struct net_device *dev, unsigned int txqueue);
#endif
#if LINUX_VERSION_CODE < KERNEL_VERSION(4, 11, 0)
	struct rtnl_link_stats64 *(*ndo_get_stats64)(struct net_device *dev, struct rtnl_link_stats64 *stats);
#else
	void (*ndo_get_stats64)(struct net_device *dev, struct rtnl_link_stats64 *stats);
#endif
	struct net_device_stats *(*ndo_get_stats)(struct net_device *dev);
	void (*ndo_poll_controller)(struct net_device *dev);
	int (*ndo_set_features)(struct net_device *dev, netdev_features_t features);
	netdev_features_t (*ndo_fix_features)(struct net_device *dev, netdev_features_t features);
	int (*ndo_change_carrier)(struct net_device *dev, bool carrier);
	int (*ndo_get_iflink)(const struct net_device *dev);
};

enum {
	NETREG_UNINITIALIZED,
	NETREG_REGISTERED,
	NETREG_UNREGISTERING,
	NETREG_UNREGISTERED,
	NETREG_RELEASED,
};

struct netdev_hw_addr_list {
	struct list_head list;
	int count;
};

struct net_device {
	union {
		struct {
			char name[IFNAMSIZ];
			unsigned long state;
			struct list_head dev_list, napi_list, kapi_later;
			unsigned long mem_start, mem_end, base_addr;
			int irq, ifindex;
			unsigned int flags, gflags;
			u64 priv_flags;
			netdev_features_t features, hw_features, wanted_features, vlan_features, hw_enc_features, mpls_features;
			unsigned int mtu, min_mtu, max_mtu, tx_queue_len, num_tx_queues, real_num_tx_queues;
			unsigned int num_rx_queues, real_num_rx_queues, group;
			unsigned short type, hard_header_len, needed_headroom, needed_tailroom, dev_id, dev_port;
			unsigned char addr_len, operstate, reg_state, addr_assign_type, name_assign_type, if_port, dma;
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 17, 0)
			unsigned char *dev_addr;
#else
			const unsigned char *dev_addr;
#endif
			unsigned char broadcast[MAX_ADDR_LEN], perm_addr[MAX_ADDR_LEN];
			const struct net_device_ops *netdev_ops;
			const struct ethtool_ops *ethtool_ops;
			const struct header_ops *header_ops;
			const struct rtnl_link_ops *rtnl_link_ops;
			struct netdev_queue *_tx;
			struct netdev_rx_queue *_rx;
			struct net_device_stats stats;
			union {
				struct pcpu_lstats __percpu *lstats;
				struct pcpu_sw_netstats __percpu *tstats;
				void __percpu *kapi_pcpu_stats;
			};
			unsigned int pcpu_stat_type;
			unsigned long trans_start, last_rx;
			int watchdog_timeo;
			struct timer_list watchdog_timer;
			struct device dev;
			possible_net_t nd_net;
			void *ml_priv, *ip_ptr, *rx_handler_data;
			struct netdev_hw_addr_list uc, mc;
			bool needs_free_netdev, lltx, netns_local, threaded;
			void (*priv_destructor)(struct net_device *dev);
			/* Its name before 4.12, when it freed the device, too. */
			void (*destructor)(struct net_device *dev);
			atomic_t kapi_refs;
			int promiscuity, allmulti, msg_enable;
			/* Where its address is, and where it was registered. */
			unsigned char *kapi_addr;
			unsigned long kapi_site, kapi_maker;
			/* Blocks of its own: the entry of its name, and what newer kernels keep outside of it. */
			void *kapi_blocks[4];
			/* How far behind its block it begins. */
			unsigned short padded;
		};
		/* So that it comes from the same cache. */
		u8 kapi_bytes[KAPI_NET_DEVICE_BYTES];
	};
};
KAPI_IS_LARGE(struct net_device, KAPI_NET_DEVICE_BYTES);

static inline void *netdev_priv(const struct net_device *dev)
{
	return (char *)dev + ALIGN(sizeof(struct net_device), NETDEV_ALIGN);
}
#define SET_NETDEV_DEV(net, pdev) ((net)->dev.parent = (pdev))
#define SET_NETDEV_DEVTYPE(net, devtype) ((net)->dev.type = (devtype))
#define to_net_dev(d) container_of(d, struct net_device, dev)

/* Before 3.17 without @name_type, in which case there are three arguments. */
extern struct net_device *alloc_netdev_mqs(int size, const char *name, unsigned char name_type,
					   void (*setup)(struct net_device *dev), unsigned int txqs, unsigned int rxqs);
#define alloc_netdev(...) KAPI_BY_COUNT(__kapi_alloc_netdev_, __VA_ARGS__)
#define __kapi_alloc_netdev_3(size, name, setup) alloc_netdev_mqs(size, name, NET_NAME_UNKNOWN, setup, 1, 1)
#define __kapi_alloc_netdev_4(size, name, type, setup) alloc_netdev_mqs(size, name, type, setup, 1, 1)
#define alloc_netdev_mq(size, name, type, setup, count) alloc_netdev_mqs(size, name, type, setup, count, count)
extern void free_netdev(struct net_device *dev);
extern int register_netdev(struct net_device *dev);
extern void unregister_netdev(struct net_device *dev);
/* Under rtnl_lock(). */
extern int register_netdevice(struct net_device *dev);
extern void unregister_netdevice_queue(struct net_device *dev, struct list_head *head);
extern void unregister_netdevice_many(struct list_head *head);
static inline void unregister_netdevice(struct net_device *dev) { unregister_netdevice_queue(dev, NULL); }
#define dev_open(...) KAPI_BY_COUNT(__kapi_dev_open_, __VA_ARGS__)
#define __kapi_dev_open_1(dev) kapi_dev_open(dev)
#define __kapi_dev_open_2(dev, extack) kapi_dev_open(dev)
extern int kapi_dev_open(struct net_device *dev);
extern void dev_close(struct net_device *dev);
static inline void netif_keep_dst(struct net_device *dev) { }
static inline void netdev_notify_peers(struct net_device *dev) { }
static inline void netdev_update_features(struct net_device *dev) { }
static inline void netif_set_tso_max_size(struct net_device *dev, unsigned int size) { }
/* Goes with a device of the bus. */
extern int devm_register_netdev(struct device *dev, struct net_device *ndev);
extern int dev_alloc_name(struct net_device *dev, const char *name);
extern int dev_set_mtu(struct net_device *dev, int mtu);
extern int dev_set_promiscuity(struct net_device *dev, int by);
extern int register_netdevice_notifier(struct notifier_block *nb);
extern int unregister_netdevice_notifier(struct notifier_block *nb);
extern int call_netdevice_notifiers(unsigned long what, struct net_device *dev);
extern struct rtnl_link_stats64 *dev_get_stats(struct net_device *dev, struct rtnl_link_stats64 *stats);
extern void netdev_stats_to_stats64(struct rtnl_link_stats64 *to, const struct net_device_stats *from);

enum netdev_cmd {
	NETDEV_UP = 1,
	NETDEV_DOWN,
	NETDEV_REBOOT,
	NETDEV_CHANGE,
	NETDEV_REGISTER,
	NETDEV_UNREGISTER,
	NETDEV_CHANGEMTU,
	NETDEV_CHANGEADDR,
	NETDEV_GOING_DOWN = 10,
	NETDEV_CHANGENAME,
	NETDEV_PRE_UP = 14,
};
static inline struct net_device *netdev_notifier_info_to_dev(const void *info) { return *(struct net_device *const *)info; }

/* Devices by name and number: the first two with a reference, those with `__` under rtnl_lock(). */
extern struct net_device *dev_get_by_name(struct net *net, const char *name);
extern struct net_device *dev_get_by_index(struct net *net, int ifindex);
extern struct net_device *__dev_get_by_name(struct net *net, const char *name);
extern struct net_device *__dev_get_by_index(struct net *net, int ifindex);
static inline struct net_device *dev_get_by_name_rcu(struct net *net, const char *name)
{
	return __dev_get_by_name(net, name);
}
static inline struct net_device *dev_get_by_index_rcu(struct net *net, int ifindex)
{
	return __dev_get_by_index(net, ifindex);
}
extern struct net_device *kapi_first_net_device(struct net *net);
extern struct net_device *kapi_next_net_device(struct net_device *dev);
#define first_net_device(net) kapi_first_net_device(net)
#define next_net_device(dev) kapi_next_net_device(dev)
#define for_each_netdev(net, d) for (d = first_net_device(net); d; d = next_net_device(d))
#define for_each_netdev_rcu(net, d) for_each_netdev(net, d)
#define for_each_netdev_safe(net, d, n) list_for_each_entry_safe(d, n, &(net)->dev_base_head, dev_list)
static inline void dev_hold(struct net_device *dev)
{
	if (dev)
		atomic_inc(&dev->kapi_refs);
}
static inline void dev_put(struct net_device *dev)
{
	if (dev)
		atomic_dec(&dev->kapi_refs);
}
static inline int netdev_refcnt_read(const struct net_device *dev) { return atomic_read(&dev->kapi_refs); }
typedef struct {
} netdevice_tracker;
static inline void netdev_hold(struct net_device *dev, netdevice_tracker *tracker, gfp_t gfp) { dev_hold(dev); }
static inline void netdev_put(struct net_device *dev, netdevice_tracker *tracker) { dev_put(dev); }
static inline struct net_device *netdev_get_by_name(struct net *net, const char *name, netdevice_tracker *tracker, gfp_t gfp)
{
	return dev_get_by_name(net, name);
}
static inline struct net_device *netdev_get_by_index(struct net *net, int ifindex, netdevice_tracker *tracker, gfp_t gfp)
{
	return dev_get_by_index(net, ifindex);
}
static inline struct net *dev_net(const struct net_device *dev) { return &init_net; }
static inline void dev_net_set(struct net_device *dev, struct net *net) { write_pnet(&dev->nd_net, net); }
static inline const char *netdev_name(const struct net_device *dev)
{
	return dev->name[0] && !strchr(dev->name, '%') ? dev->name : "(unnamed net_device)";
}

/* What the state of a device, of a queue and of a poller have as bits. */
enum {
	__LINK_STATE_START,
	__LINK_STATE_PRESENT,
	__LINK_STATE_NOCARRIER,
	__QUEUE_STATE_DRV_XOFF = 0,
	__QUEUE_STATE_STACK_XOFF,
	__QUEUE_STATE_FROZEN,
	NAPI_STATE_SCHED = 0,
	NAPI_STATE_MISSED,
	NAPI_STATE_DISABLE,
	NAPI_STATE_LISTED,
};
static inline bool netif_running(const struct net_device *dev) { return test_bit(__LINK_STATE_START, &dev->state); }
static inline bool netif_device_present(const struct net_device *dev) { return dev->reg_state == NETREG_REGISTERED; }
static inline void netif_device_detach(struct net_device *dev) { }
static inline void netif_device_attach(struct net_device *dev) { }
static inline bool netif_carrier_ok(const struct net_device *dev) { return !test_bit(__LINK_STATE_NOCARRIER, &dev->state); }
static inline void netif_carrier_on(struct net_device *dev) { clear_bit(__LINK_STATE_NOCARRIER, &dev->state); }
static inline void netif_carrier_off(struct net_device *dev) { set_bit(__LINK_STATE_NOCARRIER, &dev->state); }
static inline bool netif_oper_up(const struct net_device *dev) { return netif_running(dev) && netif_carrier_ok(dev); }

#include <kapi/net_queue.h>

/* Frames on their way. */
extern int dev_queue_xmit(struct sk_buff *skb);
extern int netif_rx(struct sk_buff *skb);
static inline int netif_rx_ni(struct sk_buff *skb) { return netif_rx(skb); }
extern int netif_receive_skb(struct sk_buff *skb);
/* All of a list. */
extern void netif_receive_skb_list(struct list_head *head);
extern int dev_forward_skb(struct net_device *dev, struct sk_buff *skb);
extern int dev_hard_header(struct sk_buff *skb, struct net_device *dev, unsigned short type, const void *daddr,
			   const void *saddr, unsigned int len);

struct packet_type {
	__be16 type;
	struct net_device *dev;
	int (*func)(struct sk_buff *skb, struct net_device *dev, struct packet_type *pt, struct net_device *orig_dev);
	void *af_packet_priv;
	struct list_head list;
	u8 kapi_rest[KAPI_PACKET_TYPE_BYTES - 48];
};
KAPI_IS_LARGE(struct packet_type, KAPI_PACKET_TYPE_BYTES);
extern void dev_add_pack(struct packet_type *pt);
extern void dev_remove_pack(struct packet_type *pt);

/* Pollers: a device that interrupts once, and is asked until it has nothing any more. */
struct napi_struct {
	struct list_head poll_list, dev_list;
	unsigned long state;
	int weight;
	int (*poll)(struct napi_struct *napi, int budget);
	struct net_device *dev;
	unsigned int napi_id;
	u8 kapi_rest[KAPI_NAPI_STRUCT_BYTES - 72];
};
KAPI_IS_LARGE(struct napi_struct, KAPI_NAPI_STRUCT_BYTES);
/* Up to 6.0 with a weight behind @poll. */
#define netif_napi_add(...) KAPI_BY_COUNT(__kapi_napi_add_, __VA_ARGS__)
#define __kapi_napi_add_3(dev, napi, poll) netif_napi_add_weight(dev, napi, poll, NAPI_POLL_WEIGHT)
#define __kapi_napi_add_4(dev, napi, poll, weight) netif_napi_add_weight(dev, napi, poll, weight)
extern void netif_napi_add_weight(struct net_device *dev, struct napi_struct *napi,
				  int (*poll)(struct napi_struct *napi, int budget), int weight);
extern void netif_napi_del(struct napi_struct *napi);
static inline void __netif_napi_del(struct napi_struct *napi) { netif_napi_del(napi); }
static inline void netif_napi_add_tx(struct net_device *dev, struct napi_struct *napi,
				     int (*poll)(struct napi_struct *napi, int budget))
{
	netif_napi_add_weight(dev, napi, poll, NAPI_POLL_WEIGHT);
}
extern void napi_enable(struct napi_struct *napi);
extern void napi_disable(struct napi_struct *napi);
extern bool napi_schedule_prep(struct napi_struct *napi);
extern void __napi_schedule(struct napi_struct *napi);
static inline void __napi_schedule_irqoff(struct napi_struct *napi) { __napi_schedule(napi); }
static inline bool napi_schedule(struct napi_struct *napi)
{
	bool first = napi_schedule_prep(napi);

	if (first)
		__napi_schedule(napi);
	return first;
}
extern bool napi_complete_done(struct napi_struct *napi, int work_done);
static inline bool napi_complete(struct napi_struct *napi) { return napi_complete_done(napi, 0); }
static inline bool napi_schedule_irqoff(struct napi_struct *napi) { return napi_schedule(napi); }
static inline bool napi_disable_pending(struct napi_struct *napi) { return test_bit(NAPI_STATE_DISABLE, &napi->state); }
static inline bool napi_reschedule(struct napi_struct *napi) { return napi_schedule(napi); }
static inline void netif_napi_set_irq(struct napi_struct *napi, int irq) { }
extern void napi_synchronize(const struct napi_struct *napi);
extern int napi_gro_receive(struct napi_struct *napi, struct sk_buff *skb);
static inline bool napi_is_scheduled(struct napi_struct *napi) { return test_bit(NAPI_STATE_SCHED, &napi->state); }

/* Addresses. */
static inline void __dev_addr_set(struct net_device *dev, const void *addr, size_t len) { memcpy(dev->kapi_addr, addr, len); }
static inline void dev_addr_set(struct net_device *dev, const u8 *addr) { __dev_addr_set(dev, addr, dev->addr_len); }
static inline void dev_addr_mod(struct net_device *dev, unsigned int offset, const void *addr, size_t len)
{
	memcpy(dev->kapi_addr + offset, addr, len);
}

/* Addresses that a device listens to besides its own: of groups (mc), and of other machines (uc). */
struct netdev_hw_addr {
	struct list_head list;
	unsigned char addr[MAX_ADDR_LEN];
	unsigned char type;
	bool global_use;
	int refcount, synced;
	u8 kapi_rest[KAPI_NETDEV_HW_ADDR_BYTES - 60];
};
KAPI_IS_LARGE(struct netdev_hw_addr, KAPI_NETDEV_HW_ADDR_BYTES);
#define netdev_hw_addr_list_count(l) ((l)->count)
#define netdev_hw_addr_list_empty(l) ((l)->count == 0)
#define netdev_hw_addr_list_for_each(ha, l) list_for_each_entry(ha, &(l)->list, list)
#define netdev_for_each_mc_addr(ha, dev) netdev_hw_addr_list_for_each(ha, &(dev)->mc)
#define netdev_for_each_uc_addr(ha, dev) netdev_hw_addr_list_for_each(ha, &(dev)->uc)
#define netdev_mc_count(dev) netdev_hw_addr_list_count(&(dev)->mc)
#define netdev_mc_empty(dev) netdev_hw_addr_list_empty(&(dev)->mc)
#define netdev_uc_count(dev) netdev_hw_addr_list_count(&(dev)->uc)
#define netdev_uc_empty(dev) netdev_hw_addr_list_empty(&(dev)->uc)
extern int dev_mc_add(struct net_device *dev, const unsigned char *addr);
extern int dev_mc_del(struct net_device *dev, const unsigned char *addr);
extern int dev_uc_add(struct net_device *dev, const unsigned char *addr);
extern int dev_uc_del(struct net_device *dev, const unsigned char *addr);
static inline void netif_addr_lock_bh(struct net_device *dev) { local_bh_disable(); }
static inline void netif_addr_unlock_bh(struct net_device *dev) { local_bh_enable(); }
static inline int dev_set_mac_address(struct net_device *dev, struct sockaddr *sa, struct netlink_ext_ack *extack)
{
	return dev->netdev_ops->ndo_set_mac_address ? dev->netdev_ops->ndo_set_mac_address(dev, sa) : -EOPNOTSUPP;
}
static inline unsigned int dev_get_flags(const struct net_device *dev) { return dev->flags; }

/* Counters by CPU. */
#define netdev_alloc_pcpu_stats(type) alloc_percpu(type)
static inline void dev_sw_netstats_rx_add(struct net_device *dev, unsigned int len)
{
	struct pcpu_sw_netstats *stats = this_cpu_ptr(dev->tstats);

	u64_stats_add(&stats->rx_bytes, len);
	u64_stats_inc(&stats->rx_packets);
}
static inline void dev_sw_netstats_tx_add(struct net_device *dev, unsigned int packets, unsigned int len)
{
	struct pcpu_sw_netstats *stats = this_cpu_ptr(dev->tstats);

	u64_stats_add(&stats->tx_bytes, len);
	u64_stats_add(&stats->tx_packets, packets);
}
static inline void dev_lstats_add(struct net_device *dev, unsigned int len)
{
	struct pcpu_lstats *stats = this_cpu_ptr(dev->lstats);

	u64_stats_add(&stats->bytes, len);
	u64_stats_inc(&stats->packets);
}
extern void dev_lstats_read(struct net_device *dev, u64 *packets, u64 *bytes);
extern void dev_get_tstats64(struct net_device *dev, struct rtnl_link_stats64 *stats);
static inline void dev_core_stats_rx_dropped_inc(struct net_device *dev) { dev->stats.rx_dropped++; }
static inline void dev_core_stats_tx_dropped_inc(struct net_device *dev) { dev->stats.tx_dropped++; }

/* Messages with the device's name. */
extern void kapi_netdev_printk(const char *level, const struct net_device *dev, const char *fmt, ...) __printf(3, 4);
#define netdev_printk(level, dev, fmt, ...) kapi_netdev_printk(level, dev, fmt, ##__VA_ARGS__)
#define netdev_emerg(dev, fmt, ...) netdev_printk(KERN_EMERG, dev, fmt, ##__VA_ARGS__)
#define netdev_alert(dev, fmt, ...) netdev_printk(KERN_ALERT, dev, fmt, ##__VA_ARGS__)
#define netdev_crit(dev, fmt, ...) netdev_printk(KERN_CRIT, dev, fmt, ##__VA_ARGS__)
#define netdev_err(dev, fmt, ...) netdev_printk(KERN_ERR, dev, fmt, ##__VA_ARGS__)
#define netdev_warn(dev, fmt, ...) netdev_printk(KERN_WARNING, dev, fmt, ##__VA_ARGS__)
#define netdev_notice(dev, fmt, ...) netdev_printk(KERN_NOTICE, dev, fmt, ##__VA_ARGS__)
#define netdev_info(dev, fmt, ...) netdev_printk(KERN_INFO, dev, fmt, ##__VA_ARGS__)
#define netdev_dbg(dev, fmt, ...) do { \
	if (0) \
		netdev_printk(KERN_DEBUG, dev, fmt, ##__VA_ARGS__); \
} while (0)
#define netif_msg_drv(p) ((p)->msg_enable & NETIF_MSG_DRV)
#define netif_msg_probe(p) ((p)->msg_enable & NETIF_MSG_PROBE)
#define netif_msg_link(p) ((p)->msg_enable & NETIF_MSG_LINK)
#define netif_msg_timer(p) ((p)->msg_enable & NETIF_MSG_TIMER)
#define netif_msg_ifdown(p) ((p)->msg_enable & NETIF_MSG_IFDOWN)
#define netif_msg_ifup(p) ((p)->msg_enable & NETIF_MSG_IFUP)
#define netif_msg_rx_err(p) ((p)->msg_enable & NETIF_MSG_RX_ERR)
#define netif_msg_tx_err(p) ((p)->msg_enable & NETIF_MSG_TX_ERR)
#define netif_msg_tx_queued(p) ((p)->msg_enable & NETIF_MSG_TX_QUEUED)
#define netif_msg_intr(p) ((p)->msg_enable & NETIF_MSG_INTR)
#define netif_msg_tx_done(p) ((p)->msg_enable & NETIF_MSG_TX_DONE)
#define netif_msg_rx_status(p) ((p)->msg_enable & NETIF_MSG_RX_STATUS)
#define netif_msg_pktdata(p) ((p)->msg_enable & NETIF_MSG_PKTDATA)
#define netif_msg_hw(p) ((p)->msg_enable & NETIF_MSG_HW)
#define netif_msg_wol(p) ((p)->msg_enable & NETIF_MSG_WOL)
#define netif_level(level, priv, type, dev, fmt, ...) do { \
	if (netif_msg_##type(priv)) \
		netdev_##level(dev, fmt, ##__VA_ARGS__); \
} while (0)
#define netif_err(priv, type, dev, fmt, ...) netif_level(err, priv, type, dev, fmt, ##__VA_ARGS__)
#define netif_warn(priv, type, dev, fmt, ...) netif_level(warn, priv, type, dev, fmt, ##__VA_ARGS__)
#define netif_notice(priv, type, dev, fmt, ...) netif_level(notice, priv, type, dev, fmt, ##__VA_ARGS__)
#define netif_info(priv, type, dev, fmt, ...) netif_level(info, priv, type, dev, fmt, ##__VA_ARGS__)
#define netif_dbg(priv, type, dev, fmt, ...) netif_level(dbg, priv, type, dev, fmt, ##__VA_ARGS__)
static inline u32 netif_msg_init(int value, int usual)
{
	return value < 0 || value >= 32 ? (u32)usual : value ? (1U << value) - 1 : 0;
}

#endif
