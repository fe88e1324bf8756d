/* Packets' buffers, network devices, pools of pages, and messages of netlink. */
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <net/genetlink.h>
#include <net/netlink.h>
#include <net/page_pool/helpers.h>
#include <net/sock.h>
#include "check.h"

static void buffers(void)
{
	struct sk_buff *skb = __alloc_skb(100, GFP_KERNEL, SKB_ALLOC_FCLONE | SKB_ALLOC_RX, NUMA_NO_NODE), *other, *next;
	struct sk_buff_head queue;
	int n = 0;

	IS(SKB_ALLOC_NAPI, 4);
	IS(SKB_TRUESIZE(0), SKB_DATA_ALIGN(sizeof(struct sk_buff)) + SKB_HEAD_ALIGN(0));
	IS(SKB_WITH_OVERHEAD(1024), 704);
	IS(SKB_HEAD_ALIGN(1500), 1856);
	IS(ARRAY_SIZE(skb_shinfo(skb)->frags), MAX_SKB_FRAGS);
	skb_reserve(skb, NET_SKB_PAD + NET_IP_ALIGN);
	IS(skb_headroom(skb), 64);
	IS(skb_put_padto(skb, ETH_ZLEN), 0);
	IS(skb->len, ETH_ZLEN);
	other = pskb_copy(skb, GFP_KERNEL);
	IS(other->len, ETH_ZLEN);
	skb_queue_head_init(&queue);
	skb_queue_tail(&queue, skb);
	skb_queue_tail(&queue, other);
	skb_queue_walk(&queue, next)
		n++;
	skb_queue_reverse_walk(&queue, next)
		n++;
	next = skb_peek(&queue);
	skb_queue_walk_from(&queue, next)
		n++;
	skb_walk_frags(skb, next)
		n++;
	skb_list_walk_safe(skb_shinfo(skb)->frag_list, next, other)
		n++;
	IS(n, 6);
	skb_queue_walk_safe(&queue, skb, next) {
		skb_unlink(skb, &queue);
		kfree_skb(skb);
	}
	IS(skb_queue_empty(&queue), true);
}

static netdev_tx_t every_xmit(struct sk_buff *skb, struct net_device *dev)
{
	dev->stats.tx_packets++;
	dev->stats.tx_bytes += skb->len;
	dev_kfree_skb(skb);
	return NETDEV_TX_OK;
}

static int every_poll(struct napi_struct *napi, int budget) { return 0; }
static const struct net_device_ops every_ops = { .ndo_start_xmit = every_xmit };

static void messages(struct net_device *dev)
{
	struct {
		int msg_enable;
	} tells = { NETIF_MSG_DRV }, *level = &tells;

	netdev_printk(KERN_DEBUG, dev, "level by hand\n");
	netdev_emerg(dev, "a message of each level\n");
	netdev_alert(dev, "a message of each level\n");
	netdev_crit(dev, "a message of each level\n");
	netdev_err(dev, "a message of each level\n");
	netdev_warn(dev, "a message of each level\n");
	netdev_notice(dev, "a message of each level\n");
	netdev_info(dev, "a message of each level\n");
	netdev_dbg(dev, "this is not printed\n");
	netif_level(info, level, drv, dev, "of a driver that tells\n");
	netif_err(level, probe, dev, "this is not printed\n");
	netif_warn(level, link, dev, "this is not printed\n");
	netif_notice(level, timer, dev, "this is not printed\n");
	netif_info(level, ifdown, dev, "this is not printed\n");
	netif_dbg(level, drv, dev, "this is not printed\n");
	IS(netif_msg_drv(level), NETIF_MSG_DRV);
	IS(netif_msg_probe(level) + netif_msg_link(level) + netif_msg_timer(level) + netif_msg_ifdown(level), 0);
	IS(netif_msg_ifup(level) + netif_msg_rx_err(level) + netif_msg_tx_err(level) + netif_msg_tx_queued(level), 0);
	IS(netif_msg_intr(level) + netif_msg_tx_done(level) + netif_msg_rx_status(level) + netif_msg_pktdata(level), 0);
	IS(netif_msg_hw(level) + netif_msg_wol(level), 0);
}

static void addresses(struct net_device *dev)
{
	static const u8 group[ETH_ALEN] = { 0x01, 0x00, 0x5e, 0, 0, 1 }, machine[ETH_ALEN] = { 2, 0, 0, 0, 0, 9 };
	struct netdev_hw_addr *ha;
	int n = 0;

	IS(netdev_mc_empty(dev) && netdev_uc_empty(dev), true);
	IS(dev_mc_add(dev, group), 0);
	IS(dev_mc_add(dev, group), 0);
	IS(dev_uc_add(dev, machine), 0);
	netdev_for_each_mc_addr(ha, dev)
		n += ha->refcount;
	netdev_for_each_uc_addr(ha, dev)
		n += ether_addr_equal(ha->addr, machine);
	netdev_hw_addr_list_for_each(ha, &dev->mc)
		n++;
	IS(n, 4);
	IS(netdev_mc_count(dev) + netdev_uc_count(dev), 2);
	IS(netdev_hw_addr_list_count(&dev->mc), 1);
	IS(dev_mc_del(dev, group), 0);
	IS(netdev_hw_addr_list_empty(&dev->mc), false);
	IS(dev_mc_del(dev, group), 0);
	IS(dev_mc_del(dev, group), -ENOENT);
	IS(sizeof(devm_alloc_etherdev(&dev->dev, 0)), sizeof(dev));
	IS(LL_RESERVED_SPACE(dev) <= MAX_HEADER && LL_MAX_HEADER < MAX_HEADER, true);
}

static void devices(void)
{
	struct net_device *dev = alloc_netdev(8, "every%d", NET_NAME_ENUM, ether_setup), *other;
	static const struct device_type type = { .name = "every" };
	struct pcpu_sw_netstats __percpu *stats = netdev_alloc_pcpu_stats(struct pcpu_sw_netstats);
	struct net_device *next;
	struct napi_struct napi;
	int n = 0;

	other = alloc_netdev_mq(0, "every_other", NET_NAME_USER, ether_setup, 4);
	IS(other->num_tx_queues, 4);
	free_netdev(other);
	free_percpu(stats);
	dev->netdev_ops = &every_ops;
	SET_NETDEV_DEV(dev, NULL);
	SET_NETDEV_DEVTYPE(dev, &type);
	IS(to_net_dev(&dev->dev), dev);
	IS((unsigned long)netdev_priv(dev) % NETDEV_ALIGN, 0);
	IS(sizeof(dev->broadcast), MAX_ADDR_LEN);
	netif_napi_add(dev, &napi, every_poll);
	IS(napi.weight, NAPI_POLL_WEIGHT);
	netif_napi_del(&napi);
	IS(register_netdev(dev), 0);
	rtnl_lock();
	ASSERT_RTNL();
	IS(rtnl_dereference(dev), rcu_dereference_rtnl(dev));
	IS(dev_open(dev, NULL), 0);
	for_each_netdev(&init_net, other)
		n++;
	for_each_netdev_rcu(&init_net, other)
		n++;
	for_each_netdev_safe(&init_net, other, next)
		n++;
	IS(n, 6);
	addresses(dev);
	IS(next_net_device(first_net_device(&init_net)), dev);
	IS(first_net_device(&init_net)->ifindex, 1);
	rtnl_unlock();
	messages(dev);
	unregister_netdev(dev);
	free_netdev(dev);
}

static void ethernet(void)
{
	struct in6_addr address = { };
	struct ethtool_drvinfo info;
	struct ifreq request;

	IS(sizeof(struct ethhdr), ETH_HLEN);
	IS(ETH_FRAME_LEN, ETH_DATA_LEN + ETH_HLEN);
	IS(ETH_FCS_LEN, 4);
	IS(ETH_ALEN, 6);
	IS(ETH_MIN_MTU < ETH_MAX_MTU, true);
	IS(ETH_P_802_3_MIN > ETH_P_LOOP, true);
	IS(ETH_P_IP == ETH_P_ARP || ETH_P_IPV6 == ETH_P_8021Q, false);
	IS(ETH_P_ALL + ETH_P_802_3, ETH_P_802_2);
	IS(sizeof(request.ifr_name), IFNAMSIZ);
	IS(IFALIASZ, 256);
	IS(SIOCDEVPRIVATE, 0x89F0);
	IS(sizeof(info.fw_version) + sizeof(info.bus_info), ETHTOOL_FWVERS_LEN + ETHTOOL_BUSINFO_LEN);
	IS(ETH_GSTRING_LEN, 32);
	IS(sizeof(struct kernel_ethtool_ts_info) > 0, true);
	IS(ntohl(in_aton("127.0.0.1")), INADDR_LOOPBACK);
	IS(in_aton("255.255.255.255"), INADDR_BROADCAST);
	IS(in_aton("0.0.0.0"), INADDR_ANY);
	address.s6_addr[0] = 1;
	IS(address.s6_addr16[0] + address.s6_addr32[0], 2);
}

enum { A_UNSPEC, A_NUMBER, A_NEST, A_EXACT, A_LEAST, A_MOST, __A_MAX };
enum { B_UNSPEC, B_TEXT, __B_MAX };
static const struct nla_policy inner[__B_MAX] = { [B_TEXT] = { .type = NLA_STRING, .len = 4 } };
static const struct nla_policy outer[__A_MAX] = {
	[A_NUMBER] = NLA_POLICY_RANGE(NLA_U32, 1, 10),
	[A_NEST] = NLA_POLICY_NESTED(inner),
	[A_EXACT] = NLA_POLICY_EXACT_LEN(6),
	[A_LEAST] = NLA_POLICY_MIN(NLA_S32, -5),
	[A_MOST] = NLA_POLICY_MAX(NLA_U8, 5),
};

static void attributes(void)
{
	struct sk_buff *skb = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	struct nlattr *tb[__A_MAX], *nested[__B_MAX], *nla, *nest;
	struct netlink_ext_ack extack = { }, *ack = &extack;
	struct nlmsghdr *nlh = nlmsg_put(skb, 1, 2, NLMSG_MIN_TYPE, 0, 0), *pos;
	int rem, n = 0;

	nla_put_u32(skb, A_NUMBER, 7);
	nest = nla_nest_start(skb, A_NEST);
	nla_put_string(skb, B_TEXT, "abcd");
	nla_nest_end(skb, nest);
	nla_put(skb, A_EXACT, 6, "123456");
	nla_put_s32(skb, A_LEAST, -5);
	nla_put_u8(skb, A_MOST, 5);
	nlmsg_end(skb, nlh);
	nlmsg_for_each_attr(nla, nlh, 0, rem)
		n++;
	nla_for_each_attr(nla, nlmsg_attrdata(nlh, 0), nlmsg_attrlen(nlh, 0), rem)
		n++;
	nlmsg_for_each_msg(pos, nlh, (int)skb->len, rem)
		n++;
	IS(n, 11);
	IS(nlmsg_parse(nlh, 0, tb, __A_MAX - 1, outer, ack), 0);
	IS(nla_get_u32(tb[A_NUMBER]), 7);
	IS(nla_parse_nested(nested, __B_MAX - 1, tb[A_NEST], inner, ack), 0);
	IS(nla_strcmp(nested[B_TEXT], "abcd"), 0);
	IS(nla_parse_nested_deprecated(nested, __B_MAX - 1, tb[A_NEST], inner, ack), 0);
	nla_for_each_nested(nla, tb[A_NEST], rem)
		IS(nla_type(nla), B_TEXT);
	IS(nla_parse(tb, __A_MAX - 1, nlmsg_attrdata(nlh, 0), nlmsg_attrlen(nlh, 0), outer, ack), 0);
	*(u32 *)nla_data(tb[A_NUMBER]) = 11;
	IS(nla_parse_deprecated(tb, __A_MAX - 1, nlmsg_attrdata(nlh, 0), nlmsg_attrlen(nlh, 0), outer, ack), -ERANGE);
	IS(nlmsg_parse_deprecated(nlh, 0, tb, __A_MAX - 1, outer, ack), -ERANGE);
	IS(extack.bad_attr, nlmsg_attrdata(nlh, 0));
	NL_SET_ERR_MSG(ack, "one");
	NL_SET_ERR_MSG_MOD(ack, "two");
	NL_SET_ERR_MSG_ATTR(ack, nest, "three");
	IS(extack.bad_attr, nest);
	IS(strcmp(extack._msg, "three"), 0);
	NL_SET_ERR_MSG_FMT(ack, "%d", 4);
	IS(strcmp(extack._msg, "4"), 0);
	NL_SET_ERR_MSG_FMT_MOD(ack, "%d", 5);
	NL_SET_BAD_ATTR(ack, nla);
	IS(extack.bad_attr, nla);
	n = 0;
	nla_for_each_attr_type(nla, A_NUMBER, nlmsg_attrdata(nlh, 0), nlmsg_attrlen(nlh, 0), rem)
		n++;
	nla_for_each_nested_type(nla, B_TEXT, nest, rem)
		n++;
	IS(n, 2);
	IS(nla_validate_deprecated(nlmsg_attrdata(nlh, 0), nlmsg_attrlen(nlh, 0), __A_MAX - 1, outer, ack), -ERANGE);
	IS(nest->nla_type & NLA_F_NESTED & NLA_TYPE_MASK, 0);
	IS(NLA_F_NET_BYTEORDER, 1 << 14);
	IS(NLA_ALIGN(5) + NLA_HDRLEN + NLA_ALIGNTO, 16);
	nlmsg_free(skb);
}

static struct sock *sk;
static int heard;
static int hear(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack) { return ++heard * 0; }
static void input(struct sk_buff *skb) { netlink_rcv_skb(skb, hear); }

static void sockets(void)
{
	struct netlink_kernel_cfg cfg = { .input = input, .flags = NL_CFG_F_NONROOT_RECV | NL_CFG_F_NONROOT_SEND };
	struct sk_buff *skb = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	struct nlmsghdr *nlh = nlmsg_put(skb, 5, 1, NLMSG_MIN_TYPE, 8, NLM_F_REQUEST);

	sk = netlink_kernel_create(&init_net, MAX_LINKS - 1, &cfg);
	IS(NLMSG_SPACE(5), NLMSG_ALIGN(NLMSG_LENGTH(5)));
	IS(NLMSG_DATA(nlh), nlmsg_data(nlh));
	IS(NLMSG_PAYLOAD(nlh, 0), 8);
	IS(NLMSG_OK(nlh, (int)skb->len), true);
	IS(NLMSG_HDRLEN % NLMSG_ALIGNTO, 0);
	NETLINK_CB(skb).portid = 5;
	NETLINK_CREDS(skb)->pid = 5;
	skb->sk = sk;
	netlink_ack(skb, nlh, -EPERM, NULL);
	input(skb);
	IS(heard, 1);
	skb->sk = NULL;
	nlmsg_free(skb);
	netlink_kernel_release(sk);
}

static int command(struct sk_buff *skb, struct genl_info *info)
{
	GENL_SET_ERR_MSG(info, "nothing to do");
	GENL_SET_ERR_MSG_FMT(info, "%d", 1);
	return GENL_REQ_ATTR_CHECK(info, 1) ? -EINVAL : 0;
}

static const struct genl_ops commands[] = { { .cmd = 1, .doit = command } };
static const struct genl_multicast_group groups[] = { { .name = "every" } };
static struct genl_family family = { .id = GENL_ID_GENERATE, .name = "every", .version = 1, .maxattr = 2, .mcgrps = groups,
				     .n_mcgrps = 1 };

static void families(void)
{
	struct sk_buff *skb = genlmsg_new(16, GFP_KERNEL);
	struct nlattr *tb[3];
	void *header;

	IS(sizeof(family.name), GENL_NAMSIZ);
	IS(GENL_HDRLEN, 4);
	IS(genl_register_family_with_ops(&family, commands), 0);
	header = genlmsg_put(skb, 0, 0, &family, 0, 1);
	genlmsg_end(skb, header);
	IS(genlmsg_parse_deprecated(genlmsg_nlhdr(header), &family, tb, 2, NULL, NULL), 0);
	IS(GENLMSG_DEFAULT_SIZE, NLMSG_DEFAULT_SIZE - GENL_HDRLEN);
	IS(genlmsg_multicast_allns(&family, skb, 0, 0), -ESRCH);
	IS(genl_unregister_family(&family), 0);
}

static void pools(void)
{
	struct page_pool_params params = { .flags = PP_FLAG_DMA_MAP | PP_FLAG_DMA_SYNC_DEV, .dma_dir = DMA_FROM_DEVICE };
	struct page_pool *pool = page_pool_create(&params);

	IS(PTR_ERR(pool), -EINVAL);
	params.max_len = PAGE_SIZE;
	pool = page_pool_create(&params);
	IS(IS_ERR(pool), false);
	page_pool_recycle_direct(pool, page_pool_dev_alloc_pages(pool));
	page_pool_destroy(pool);
	IS(PP_ALLOC_CACHE_SIZE, PP_ALLOC_CACHE_REFILL * 2);
#ifdef PP_FLAG_PAGE_FRAG
	IS(PP_FLAG_PAGE_FRAG, 4);
#endif
}

static int __init net_init(void)
{
	buffers();
	devices();
	ethernet();
	attributes();
	sockets();
	families();
	pools();
	return result();
}
module_init(net_init);
MODULE_LICENSE("GPL");
MODULE_ALIAS_GENL_FAMILY("every");
MODULE_ALIAS_RTNL_LINK("every");
