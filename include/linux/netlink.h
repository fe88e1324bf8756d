/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Messages between a module and users: sockets of the kernel's own, by the number of their protocol.
 *
 * How it works: a step of --do is the user: it sends a message, for which the socket's function is called, and shows what
 * came back. It hears all groups from its first message on.
 *
 * Linux counterpart: include/linux/netlink.h and include/uapi/linux/netlink.h @ 6.1 to 7.3. Differences from Linux: one
 * user with one number, whose queue has no limit.
 */
#ifndef _LINUX_NETLINK_H
#define _LINUX_NETLINK_H

#include <linux/cred.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/skbuff.h>
#include <linux/socket.h>
#include <linux/types.h>
#include <linux/version.h>
#include <net/net_namespace.h>

enum {
	NETLINK_ROUTE = 0,
	NETLINK_USERSOCK = 2,
	NETLINK_KOBJECT_UEVENT = 15,
	NETLINK_GENERIC = 16,
};
#define MAX_LINKS 32

struct nlmsghdr {
	__u32 nlmsg_len;
	__u16 nlmsg_type, nlmsg_flags;
	__u32 nlmsg_seq, nlmsg_pid;
};

struct sockaddr_nl {
	unsigned short nl_family, nl_pad;
	__u32 nl_pid, nl_groups;
};

enum {
	NLMSG_NOOP = 1,
	NLMSG_ERROR = 2,
	NLMSG_DONE = 3,
	NLMSG_OVERRUN = 4,
	NLMSG_MIN_TYPE = 0x10,
};
enum {
	NLM_F_REQUEST = 0x01,
	NLM_F_MULTI = 0x02,
	NLM_F_ACK = 0x04,
	NLM_F_ECHO = 0x08,
	NLM_F_ROOT = 0x100,
	NLM_F_MATCH = 0x200,
	NLM_F_DUMP = 0x300,
	NLM_F_REPLACE = 0x100,
	NLM_F_EXCL = 0x200,
	NLM_F_CREATE = 0x400,
	NLM_F_APPEND = 0x800,
};

#define NLMSG_ALIGNTO 4U
#define NLMSG_ALIGN(len) (((len) + NLMSG_ALIGNTO - 1) & ~(NLMSG_ALIGNTO - 1))
#define NLMSG_HDRLEN ((int)NLMSG_ALIGN(sizeof(struct nlmsghdr)))
#define NLMSG_LENGTH(len) ((len) + NLMSG_HDRLEN)
#define NLMSG_SPACE(len) NLMSG_ALIGN(NLMSG_LENGTH(len))
#define NLMSG_DATA(nlh) ((void *)((char *)(nlh) + NLMSG_HDRLEN))
#define NLMSG_PAYLOAD(nlh, len) ((nlh)->nlmsg_len - NLMSG_SPACE((len)))
#define NLMSG_OK(nlh, len) ((len) >= (int)sizeof(struct nlmsghdr) && (nlh)->nlmsg_len >= sizeof(struct nlmsghdr) && \
			    (nlh)->nlmsg_len <= (unsigned int)(len))
/* Room for a message in a page. */
#define NLMSG_GOODSIZE SKB_WITH_OVERHEAD(PAGE_SIZE)
#define NLMSG_DEFAULT_SIZE (NLMSG_GOODSIZE - NLMSG_HDRLEN)

struct nlattr {
	__u16 nla_len, nla_type;
};
#define NLA_F_NESTED (1 << 15)
#define NLA_F_NET_BYTEORDER (1 << 14)
#define NLA_TYPE_MASK ((u16)~(NLA_F_NESTED | NLA_F_NET_BYTEORDER))
#define NLA_ALIGNTO 4
#define NLA_ALIGN(len) (((len) + NLA_ALIGNTO - 1) & ~(NLA_ALIGNTO - 1))
#define NLA_HDRLEN ((int)NLA_ALIGN(sizeof(struct nlattr)))

struct nlmsgerr {
	int error;
	struct nlmsghdr msg;
};

struct nla_policy;
struct netlink_ext_ack {
	const char *_msg;
	const struct nlattr *bad_attr;
	const struct nla_policy *policy;
	const struct nlattr *miss_nest;
	u16 miss_type;
	u8 cookie[20], cookie_len;
	char _msg_buf[80];
};
#define NL_SET_ERR_MSG(extack, msg) do { \
	struct netlink_ext_ack *__extack = (extack); \
	if (__extack) \
		__extack->_msg = (msg); \
} while (0)
#define NL_SET_ERR_MSG_MOD(extack, msg) NL_SET_ERR_MSG(extack, KBUILD_MODNAME ": " msg)
#define NL_SET_ERR_MSG_FMT(extack, fmt, ...) do { \
	struct netlink_ext_ack *__extack = (extack); \
	if (__extack) { \
		snprintf(__extack->_msg_buf, sizeof(__extack->_msg_buf), fmt, ##__VA_ARGS__); \
		__extack->_msg = __extack->_msg_buf; \
	} \
} while (0)
#define NL_SET_ERR_MSG_FMT_MOD(extack, fmt, ...) NL_SET_ERR_MSG_FMT(extack, KBUILD_MODNAME ": " fmt, ##__VA_ARGS__)
#define NL_SET_BAD_ATTR(extack, attr) do { \
	if (extack) \
		(extack)->bad_attr = (attr); \
} while (0)
#define NL_SET_ERR_MSG_ATTR(extack, attr, msg) do { \
	if (extack) \
		(extack)->bad_attr = (attr); \
	NL_SET_ERR_MSG(extack, msg); \
} while (0)

struct scm_creds {
	u32 pid;
	kuid_t uid;
	kgid_t gid;
};

struct netlink_skb_parms {
	struct scm_creds creds;
	union {
		__u32 portid;
		__u32 pid;
	};
	__u32 dst_group;
	__u32 flags;
	struct sock *sk;
};
#define NETLINK_CB(skb) (*(struct netlink_skb_parms *)&((skb)->cb))
#define NETLINK_CREDS(skb) (&NETLINK_CB((skb)).creds)

struct netlink_kernel_cfg {
	unsigned int groups;
	unsigned int flags;
	void (*input)(struct sk_buff *skb);
	struct mutex *cb_mutex;
	int (*bind)(struct net *net, int group);
	void (*unbind)(struct net *net, int group);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	void (*release)(struct sock *sk, unsigned long *groups);
#else
	bool (*compare)(struct net *net, struct sock *sk);
#endif
};
#define NL_CFG_F_NONROOT_RECV 1
#define NL_CFG_F_NONROOT_SEND 2

/* Since 3.7; with the module in front of @cfg in 3.6; before, with groups, function, mutex and module. */
extern struct sock *kapi_netlink_create(struct net *net, int unit, const struct netlink_kernel_cfg *cfg);
#define netlink_kernel_create(...) KAPI_BY_COUNT(__kapi_netlink_create_, __VA_ARGS__)
#define __kapi_netlink_create_3(net, unit, cfg) kapi_netlink_create(net, unit, cfg)
#define __kapi_netlink_create_4(net, unit, module, cfg) kapi_netlink_create(net, unit, cfg)
#define __kapi_netlink_create_6(net, unit, n, fn, lock, module) \
	kapi_netlink_create(net, unit, &(struct netlink_kernel_cfg){ .groups = (n), .input = (fn) })
extern void netlink_kernel_release(struct sock *sk);
extern int netlink_has_listeners(struct sock *sk, unsigned int group);
/* Both take the buffer. Return: its bytes, 0 for the second, or an error if nobody hears it. */
extern int netlink_unicast(struct sock *sk, struct sk_buff *skb, __u32 portid, int nonblock);
extern int netlink_broadcast(struct sock *sk, struct sk_buff *skb, __u32 portid, __u32 group, gfp_t gfp);
/* An error for the listeners of a group, which is dropped. */
static inline int netlink_set_err(struct sock *sk, u32 portid, u32 group, int code) { return 0; }
extern void kapi_netlink_ack(struct sk_buff *skb, struct nlmsghdr *nlh, int error, const struct netlink_ext_ack *extack);
#define netlink_ack(...) KAPI_BY_COUNT(__kapi_netlink_ack_, __VA_ARGS__)
#define __kapi_netlink_ack_3(skb, nlh, error) kapi_netlink_ack(skb, nlh, error, NULL)
#define __kapi_netlink_ack_4(skb, nlh, error, extack) kapi_netlink_ack(skb, nlh, error, extack)
#if LINUX_VERSION_CODE < KERNEL_VERSION(4, 12, 0)
typedef int (*kapi_netlink_fn)(struct sk_buff *skb, struct nlmsghdr *nlh);
#else
typedef int (*kapi_netlink_fn)(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
#endif
/* Calls @fn for each message that the buffer has, and answers those that want it. */
extern int netlink_rcv_skb(struct sk_buff *skb, kapi_netlink_fn fn);
static inline bool netlink_capable(const struct sk_buff *skb, int capability) { return true; }
static inline bool netlink_ns_capable(const struct sk_buff *skb, struct user_namespace *ns, int capability) { return true; }
static inline bool netlink_net_capable(const struct sk_buff *skb, int capability) { return true; }
static inline struct nlmsghdr *nlmsg_hdr(const struct sk_buff *skb) { return (struct nlmsghdr *)skb->data; }

struct netlink_callback {
	struct sk_buff *skb;
	const struct nlmsghdr *nlh;
	int (*dump)(struct sk_buff *skb, struct netlink_callback *cb);
	int (*done)(struct netlink_callback *cb);
	void *data;
	struct module *module;
	struct netlink_ext_ack *extack;
	u16 family, answer_flags;
	unsigned int prev_seq, seq;
	int flags;
	bool strict_check;
	union {
		u8 ctx[48];
		long args[6];
	};
};

struct netlink_dump_control {
	int (*start)(struct netlink_callback *cb);
	int (*dump)(struct sk_buff *skb, struct netlink_callback *cb);
	int (*done)(struct netlink_callback *cb);
	struct netlink_ext_ack *extack;
	void *data;
	struct module *module;
	u32 min_dump_alloc;
};
/* Calls the functions until there is no more to be told. */
extern int netlink_dump_start(struct sock *sk, struct sk_buff *skb, const struct nlmsghdr *nlh,
			      struct netlink_dump_control *control);

#endif
