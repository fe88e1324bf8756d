/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Families of messages by name, over one protocol of netlink: each has commands with functions, attributes with a policy,
 * and groups of listeners. A step of --do sends commands.
 *
 * Linux counterpart: include/net/genetlink.h @ 6.1 to 7.3. Differences from Linux: no family tells users which there are,
 * and nobody needs a right.
 */
#ifndef _NET_GENETLINK_H
#define _NET_GENETLINK_H

#include <linux/version.h>
#include <kapi/bytes.h>
#include <net/net_namespace.h>
#include <net/netlink.h>

#define GENL_NAMSIZ 16
struct genlmsghdr {
	__u8 cmd, version;
	__u16 reserved;
};
#define GENLMSG_DEFAULT_SIZE (NLMSG_DEFAULT_SIZE - GENL_HDRLEN)
#define GENL_HDRLEN ((int)NLMSG_ALIGN(sizeof(struct genlmsghdr)))

enum {
	GENL_ADMIN_PERM = 0x01,
	GENL_CMD_CAP_DO = 0x02,
	GENL_CMD_CAP_DUMP = 0x04,
	GENL_CMD_CAP_HASPOL = 0x08,
	GENL_UNS_ADMIN_PERM = 0x10,
};
enum genl_validate_flags {
	GENL_DONT_VALIDATE_STRICT = 1,
	GENL_DONT_VALIDATE_DUMP = 2,
	GENL_DONT_VALIDATE_DUMP_STRICT = 4,
};
/* As a family's number before 4.10: any that is free. */
#define GENL_ID_GENERATE 0

struct genl_multicast_group {
	char name[GENL_NAMSIZ];
	u8 flags;
};

struct genl_family;
struct genl_info {
	u32 snd_seq;
	u32 snd_portid;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	const struct genl_family *family;
#endif
	struct nlmsghdr *nlhdr;
	struct genlmsghdr *genlhdr;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
	void *userhdr;
#endif
	struct nlattr **attrs;
	possible_net_t _net;
	union {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
		u8 ctx[48];
#endif
		void *user_ptr[2];
	};
	struct netlink_ext_ack *extack;
};

struct genl_small_ops {
	int (*doit)(struct sk_buff *skb, struct genl_info *info);
	int (*dumpit)(struct sk_buff *skb, struct netlink_callback *cb);
	u8 cmd, internal_flags, flags, validate;
};

struct genl_ops {
	int (*doit)(struct sk_buff *skb, struct genl_info *info);
	int (*start)(struct netlink_callback *cb);
	int (*dumpit)(struct sk_buff *skb, struct netlink_callback *cb);
	int (*done)(struct netlink_callback *cb);
	const struct nla_policy *policy;
	unsigned int maxattr;
	u8 cmd, internal_flags, flags, validate;
};

/* What a function before and behind a command gets: another structure since 6.2. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define kapi_genl_ops genl_ops
#else
#define kapi_genl_ops genl_split_ops
#endif

struct genl_split_ops {
	union {
		struct {
			int (*pre_doit)(const struct genl_split_ops *ops, struct sk_buff *skb, struct genl_info *info);
			int (*doit)(struct sk_buff *skb, struct genl_info *info);
			void (*post_doit)(const struct genl_split_ops *ops, struct sk_buff *skb, struct genl_info *info);
		};
		struct {
			int (*start)(struct netlink_callback *cb);
			int (*dumpit)(struct sk_buff *skb, struct netlink_callback *cb);
			int (*done)(struct netlink_callback *cb);
		};
	};
	const struct nla_policy *policy;
	unsigned int maxattr;
	u8 cmd, internal_flags, flags, validate;
};

struct genl_family {
	int id;
	unsigned int hdrsize;
	char name[GENL_NAMSIZ];
	unsigned int version;
	unsigned int maxattr;
	unsigned int mcgrp_offset;
	u8 netnsok : 1, parallel_ops : 1;
	u8 n_ops, n_small_ops, n_split_ops, n_mcgrps, resv_start_op;
	const struct nla_policy *policy;
	int (*pre_doit)(const struct kapi_genl_ops *ops, struct sk_buff *skb, struct genl_info *info);
	void (*post_doit)(const struct kapi_genl_ops *ops, struct sk_buff *skb, struct genl_info *info);
	const struct genl_ops *ops;
	const struct genl_small_ops *small_ops;
	const struct genl_split_ops *split_ops;
	const struct genl_multicast_group *mcgrps;
	struct module *module;
	struct list_head kapi_list;
};

/* What a dump has as its data: the command and its attributes. */
struct genl_dumpit_info {
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
	const struct genl_family *family;
	struct genl_ops op;
	struct nlattr **attrs;
#else
	struct genl_split_ops op;
	struct genl_info info;
#endif
};
static inline const struct genl_dumpit_info *genl_dumpit_info(struct netlink_callback *cb) { return cb->data; }
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
static inline const struct genl_info *genl_info_dump(struct netlink_callback *cb)
{
	return &genl_dumpit_info(cb)->info;
}
static inline void *genl_info_userhdr(const struct genl_info *info) { return (char *)info->genlhdr + GENL_HDRLEN; }
#endif

extern int genl_register_family(struct genl_family *family);
extern int genl_unregister_family(const struct genl_family *family);
/* Before 4.10; with the number of commands before 3.13, and without it since. */
extern int kapi_genl_register(struct genl_family *family, const struct genl_ops *ops, size_t n);
#define genl_register_family_with_ops(...) KAPI_BY_COUNT(__kapi_genl_register_, __VA_ARGS__)
#define __kapi_genl_register_2(family, ops) kapi_genl_register(family, ops, ARRAY_SIZE(ops))
#define __kapi_genl_register_3(family, ops, n) kapi_genl_register(family, ops, n)

static inline struct net *genl_info_net(const struct genl_info *info) { return &init_net; }
static inline void *genlmsg_data(const struct genlmsghdr *gnlh) { return (char *)gnlh + GENL_HDRLEN; }
static inline int genlmsg_len(const struct genlmsghdr *gnlh)
{
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)((const char *)gnlh - NLMSG_HDRLEN);

	return (int)nlh->nlmsg_len - GENL_HDRLEN - NLMSG_HDRLEN;
}
static inline int genlmsg_msg_size(int payload) { return GENL_HDRLEN + payload; }
static inline int genlmsg_total_size(int payload) { return (int)NLMSG_ALIGN((unsigned int)genlmsg_msg_size(payload)); }
static inline struct sk_buff *genlmsg_new(size_t payload, gfp_t gfp)
{
	return nlmsg_new((size_t)genlmsg_total_size((int)payload), gfp);
}
/* Return: the family's own header, or where attributes begin; NULL if there is no room. */
extern void *genlmsg_put(struct sk_buff *skb, u32 portid, u32 seq, const struct genl_family *family, int flags, u8 cmd);
static inline void *genlmsg_put_reply(struct sk_buff *skb, struct genl_info *info, const struct genl_family *family, int flags,
				      u8 cmd)
{
	return genlmsg_put(skb, info->snd_portid, info->snd_seq, family, flags, cmd);
}
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
static inline void *genlmsg_iput(struct sk_buff *skb, const struct genl_info *info)
{
	return genlmsg_put(skb, info->snd_portid, info->snd_seq, info->family, 0, info->genlhdr->cmd);
}
#endif
static inline void genlmsg_end(struct sk_buff *skb, void *hdr)
{
	nlmsg_end(skb, (struct nlmsghdr *)((char *)hdr - GENL_HDRLEN - NLMSG_HDRLEN));
}
static inline void genlmsg_cancel(struct sk_buff *skb, void *hdr)
{
	if (hdr)
		nlmsg_trim(skb, (char *)hdr - GENL_HDRLEN - NLMSG_HDRLEN);
}
extern int genlmsg_unicast(struct net *net, struct sk_buff *skb, u32 portid);
static inline int genlmsg_reply(struct sk_buff *skb, struct genl_info *info)
{
	return genlmsg_unicast(&init_net, skb, info->snd_portid);
}
/* @group: its place in the family's array. */
extern int genlmsg_multicast(const struct genl_family *family, struct sk_buff *skb, u32 portid, unsigned int group, gfp_t flags);
static inline int genlmsg_multicast_netns(const struct genl_family *family, struct net *net, struct sk_buff *skb, u32 portid,
					  unsigned int group, gfp_t flags)
{
	return genlmsg_multicast(family, skb, portid, group, flags);
}
/* With @flags up to 6.12. */
#define genlmsg_multicast_allns(family, skb, portid, group, ...) genlmsg_multicast(family, skb, portid, group, GFP_KERNEL)
extern int genl_has_listeners(const struct genl_family *family, struct net *net, unsigned int group);
extern void genl_lock(void);
extern void genl_unlock(void);
#define GENL_SET_ERR_MSG(info, msg) NL_SET_ERR_MSG((info)->extack, msg)
#define GENL_SET_ERR_MSG_FMT(info, msg, ...) NL_SET_ERR_MSG_FMT((info)->extack, msg, ##__VA_ARGS__)
#define MODULE_ALIAS_GENL_FAMILY(family) MODULE_ALIAS("net-pf-16-proto-16-family-" family)
static inline void genl_set_err_msg(struct genl_info *info, const char *msg) { NL_SET_ERR_MSG(info->extack, msg); }
static inline void genl_info_net_set(struct genl_info *info, struct net *net) { write_pnet(&info->_net, net); }
static inline struct nlmsghdr *genlmsg_nlhdr(void *user_hdr)
{
	return (struct nlmsghdr *)((char *)user_hdr - GENL_HDRLEN - NLMSG_HDRLEN);
}
static inline int genlmsg_parse(const struct nlmsghdr *nlh, const struct genl_family *family, struct nlattr *tb[], int maxtype,
				const struct nla_policy *policy, struct netlink_ext_ack *extack)
{
	return nlmsg_parse(nlh, (int)family->hdrsize + GENL_HDRLEN, tb, maxtype, policy, extack);
}
#define genlmsg_parse_deprecated genlmsg_parse
static inline void genl_dump_check_consistent(struct netlink_callback *cb, void *user_hdr) { }
/* Tells the group's listeners, and who asked if his message says so. */
static inline void genl_notify(const struct genl_family *family, struct sk_buff *skb, struct genl_info *info, u32 group,
			       gfp_t flags)
{
	genlmsg_multicast(family, skb, 0, group, flags);
}
static inline int genl_set_err(const struct genl_family *family, struct net *net, u32 portid, u32 group, int code) { return 0; }
static inline int genl_info_is_ntf(const struct genl_info *info) { return !info->nlhdr; }
static inline bool genl_req_attr_check(const struct genl_info *info, int attr) { return !info->attrs[attr]; }
#define GENL_REQ_ATTR_CHECK(info, attr) genl_req_attr_check(info, attr)

#endif
