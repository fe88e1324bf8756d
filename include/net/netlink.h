/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Messages of netlink, and the attributes that they carry: how they are made and read.
 *
 * Linux counterpart: include/net/netlink.h @ 6.1 to 7.3. Difference: what is too long for its policy is refused in every
 * kernel, what is unknown is not.
 */
#ifndef _NET_NETLINK_H
#define _NET_NETLINK_H

#include <linux/jiffies.h>
#include <linux/netlink.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/types.h>

/* Types of attributes in a policy. */
enum {
	NLA_UNSPEC,
	NLA_U8,
	NLA_U16,
	NLA_U32,
	NLA_U64,
	NLA_STRING,
	NLA_FLAG,
	NLA_MSECS,
	NLA_NESTED,
	NLA_NESTED_ARRAY,
	NLA_NUL_STRING,
	NLA_BINARY,
	NLA_S8,
	NLA_S16,
	NLA_S32,
	NLA_S64,
	NLA_BITFIELD32,
	NLA_REJECT,
};

struct nla_policy {
	u8 type;
	/* Whether the numbers below bound a value, and how; or bytes are to be just len. */
	u8 validation_type;
	u16 len;
	union {
		const struct nla_policy *nested_policy;
		struct {
			s16 min, max;
		};
		const char *reject_message;
	};
};
enum nla_policy_validation {
	NLA_VALIDATE_NONE,
	NLA_VALIDATE_RANGE,
	NLA_VALIDATE_MIN,
	NLA_VALIDATE_MAX,
	KAPI_VALIDATE_EXACT,
};
#define NLA_POLICY_NESTED(policy) { .type = NLA_NESTED, .nested_policy = (policy), .len = ARRAY_SIZE(policy) - 1 }
#define NLA_POLICY_RANGE(tp, _min, _max) { .type = (tp), .validation_type = NLA_VALIDATE_RANGE, .min = (_min), .max = (_max) }
#define NLA_POLICY_MIN(tp, _min) { .type = (tp), .validation_type = NLA_VALIDATE_MIN, .min = (_min) }
#define NLA_POLICY_MAX(tp, _max) { .type = (tp), .validation_type = NLA_VALIDATE_MAX, .max = (_max) }
#define NLA_POLICY_EXACT_LEN(bytes) { .type = NLA_BINARY, .validation_type = KAPI_VALIDATE_EXACT, .len = (bytes) }

/* Messages. */
static inline int nlmsg_msg_size(int payload) { return NLMSG_HDRLEN + payload; }
static inline int nlmsg_total_size(int payload) { return (int)NLMSG_ALIGN((unsigned int)nlmsg_msg_size(payload)); }
static inline int nlmsg_padlen(int payload) { return nlmsg_total_size(payload) - nlmsg_msg_size(payload); }
static inline void *nlmsg_data(const struct nlmsghdr *nlh) { return (char *)nlh + NLMSG_HDRLEN; }
static inline int nlmsg_len(const struct nlmsghdr *nlh) { return (int)nlh->nlmsg_len - NLMSG_HDRLEN; }
static inline struct nlattr *nlmsg_attrdata(const struct nlmsghdr *nlh, int hdrlen)
{
	return (struct nlattr *)((char *)nlmsg_data(nlh) + NLMSG_ALIGN((unsigned int)hdrlen));
}
static inline int nlmsg_attrlen(const struct nlmsghdr *nlh, int hdrlen)
{
	return nlmsg_len(nlh) - (int)NLMSG_ALIGN((unsigned int)hdrlen);
}
static inline bool nlmsg_ok(const struct nlmsghdr *nlh, int remaining) { return NLMSG_OK(nlh, remaining); }
static inline struct nlmsghdr *nlmsg_next(const struct nlmsghdr *nlh, int *remaining)
{
	int bytes = (int)NLMSG_ALIGN(nlh->nlmsg_len);

	*remaining -= bytes;
	return (struct nlmsghdr *)((char *)nlh + bytes);
}
#define nlmsg_for_each_msg(pos, head, len, rem) \
	for (pos = head, rem = len; nlmsg_ok(pos, rem); pos = nlmsg_next(pos, &(rem)))
extern struct nlmsghdr *__nlmsg_put(struct sk_buff *skb, u32 portid, u32 seq, int type, int len, int flags);
/* Return: NULL if there is no room. */
static inline struct nlmsghdr *nlmsg_put(struct sk_buff *skb, u32 portid, u32 seq, int type, int payload, int flags)
{
	return skb_tailroom(skb) < nlmsg_total_size(payload) ? NULL : __nlmsg_put(skb, portid, seq, type, payload, flags);
}
static inline struct sk_buff *nlmsg_new(size_t payload, gfp_t gfp)
{
	return alloc_skb((unsigned int)nlmsg_total_size((int)payload), gfp);
}
static inline void nlmsg_end(struct sk_buff *skb, struct nlmsghdr *nlh)
{
	nlh->nlmsg_len = (u32)(skb_tail_pointer(skb) - (unsigned char *)nlh);
}
static inline void *nlmsg_get_pos(struct sk_buff *skb) { return skb_tail_pointer(skb); }
static inline void nlmsg_trim(struct sk_buff *skb, const void *mark)
{
	if (mark)
		skb_trim(skb, (unsigned int)((const unsigned char *)mark - skb->data));
}
static inline void nlmsg_cancel(struct sk_buff *skb, struct nlmsghdr *nlh) { nlmsg_trim(skb, nlh); }
static inline void nlmsg_free(struct sk_buff *skb) { kfree_skb(skb); }
static inline void nlmsg_consume(struct sk_buff *skb) { consume_skb(skb); }
static inline int nlmsg_unicast(struct sock *sk, struct sk_buff *skb, u32 portid)
{
	int error = netlink_unicast(sk, skb, portid, 0x40);

	return error > 0 ? 0 : error;
}
static inline int nlmsg_multicast(struct sock *sk, struct sk_buff *skb, u32 portid, unsigned int group, gfp_t flags)
{
	int error = netlink_broadcast(sk, skb, portid, group, flags);

	return error > 0 ? 0 : error;
}
static inline int nlmsg_report(const struct nlmsghdr *nlh) { return nlh && (nlh->nlmsg_flags & NLM_F_ECHO); }

/* Attributes. */
static inline int nla_attr_size(int payload) { return NLA_HDRLEN + payload; }
static inline int nla_total_size(int payload) { return NLA_ALIGN(nla_attr_size(payload)); }
static inline int nla_total_size_64bit(int payload) { return NLA_ALIGN(nla_attr_size(payload)); }
static inline int nla_padlen(int payload) { return nla_total_size(payload) - nla_attr_size(payload); }
static inline int nla_type(const struct nlattr *nla) { return nla->nla_type & NLA_TYPE_MASK; }
static inline void *nla_data(const struct nlattr *nla) { return (char *)nla + NLA_HDRLEN; }
static inline u16 nla_len(const struct nlattr *nla) { return (u16)(nla->nla_len - NLA_HDRLEN); }
static inline bool nla_ok(const struct nlattr *nla, int remaining)
{
	return remaining >= (int)sizeof(*nla) && nla->nla_len >= sizeof(*nla) && nla->nla_len <= remaining;
}
static inline struct nlattr *nla_next(const struct nlattr *nla, int *remaining)
{
	int bytes = NLA_ALIGN(nla->nla_len);

	*remaining -= bytes;
	return (struct nlattr *)((char *)nla + bytes);
}
#define nla_for_each_attr(pos, head, len, rem) for (pos = head, rem = len; nla_ok(pos, rem); pos = nla_next(pos, &(rem)))
#define nla_for_each_nested(pos, nla, rem) nla_for_each_attr(pos, (struct nlattr *)nla_data(nla), nla_len(nla), rem)
#define nlmsg_for_each_attr(pos, nlh, hdrlen, rem) \
	nla_for_each_attr(pos, nlmsg_attrdata(nlh, hdrlen), nlmsg_attrlen(nlh, hdrlen), rem)
extern struct nlattr *nla_find(const struct nlattr *head, int len, int attrtype);
static inline struct nlattr *nlmsg_find_attr(const struct nlmsghdr *nlh, int hdrlen, int type)
{
	return nla_find(nlmsg_attrdata(nlh, hdrlen), nlmsg_attrlen(nlh, hdrlen), type);
}

/* Return: NULL, or -EMSGSIZE, if there is no room. */
extern struct nlattr *nla_reserve(struct sk_buff *skb, int type, int len);
extern void *nla_reserve_nohdr(struct sk_buff *skb, int len);
extern int nla_put(struct sk_buff *skb, int type, int len, const void *data);
extern int nla_put_nohdr(struct sk_buff *skb, int len, const void *data);
static inline int nla_put_u8(struct sk_buff *skb, int type, u8 value) { return nla_put(skb, type, sizeof(value), &value); }
static inline int nla_put_u16(struct sk_buff *skb, int type, u16 value) { return nla_put(skb, type, sizeof(value), &value); }
static inline int nla_put_u32(struct sk_buff *skb, int type, u32 value) { return nla_put(skb, type, sizeof(value), &value); }
static inline int nla_put_s32(struct sk_buff *skb, int type, s32 value) { return nla_put(skb, type, sizeof(value), &value); }
static inline int nla_put_be16(struct sk_buff *skb, int type, __be16 v) { return nla_put(skb, type, sizeof(v), &v); }
static inline int nla_put_be32(struct sk_buff *skb, int type, __be32 v) { return nla_put(skb, type, sizeof(v), &v); }
static inline int nla_put_u64_64bit(struct sk_buff *skb, int type, u64 value, int padattr)
{
	return nla_put(skb, type, sizeof(value), &value);
}
static inline int nla_put_64bit(struct sk_buff *skb, int type, int len, const void *data, int padattr)
{
	return nla_put(skb, type, len, data);
}
static inline int nla_put_u64(struct sk_buff *skb, int type, u64 value) { return nla_put_u64_64bit(skb, type, value, 0); }
static inline int nla_put_string(struct sk_buff *skb, int type, const char *text)
{
	return nla_put(skb, type, (int)strlen(text) + 1, text);
}
static inline int nla_put_flag(struct sk_buff *skb, int type) { return nla_put(skb, type, 0, NULL); }
static inline int nla_put_msecs(struct sk_buff *skb, int type, unsigned long time, int padattr)
{
	return nla_put_u64_64bit(skb, type, jiffies_to_msecs(time), padattr);
}
static inline u8 nla_get_u8(const struct nlattr *nla) { return *(u8 *)nla_data(nla); }
static inline u16 nla_get_u16(const struct nlattr *nla) { return *(u16 *)nla_data(nla); }
static inline u32 nla_get_u32(const struct nlattr *nla) { return *(u32 *)nla_data(nla); }
static inline s32 nla_get_s32(const struct nlattr *nla) { return *(s32 *)nla_data(nla); }
static inline __be16 nla_get_be16(const struct nlattr *nla) { return *(__be16 *)nla_data(nla); }
static inline __be32 nla_get_be32(const struct nlattr *nla) { return *(__be32 *)nla_data(nla); }
static inline int nla_get_flag(const struct nlattr *nla) { return nla != NULL; }
extern u64 nla_get_u64(const struct nlattr *nla);
static inline unsigned long nla_get_msecs(const struct nlattr *nla)
{
	return msecs_to_jiffies((unsigned int)nla_get_u64(nla));
}
static inline s8 nla_get_s8(const struct nlattr *nla) { return *(s8 *)nla_data(nla); }
static inline s16 nla_get_s16(const struct nlattr *nla) { return *(s16 *)nla_data(nla); }
static inline __le16 nla_get_le16(const struct nlattr *nla) { return *(__le16 *)nla_data(nla); }
static inline __le32 nla_get_le32(const struct nlattr *nla) { return *(__le32 *)nla_data(nla); }
static inline __be32 nla_get_in_addr(const struct nlattr *nla) { return *(__be32 *)nla_data(nla); }
static inline s64 nla_get_s64(const struct nlattr *nla) { return (s64)nla_get_u64(nla); }
static inline __be64 nla_get_be64(const struct nlattr *nla) { return (__be64)nla_get_u64(nla); }
static inline __le64 nla_get_le64(const struct nlattr *nla) { return (__le64)nla_get_u64(nla); }
static inline int nla_put_s8(struct sk_buff *skb, int type, s8 v) { return nla_put(skb, type, sizeof(v), &v); }
static inline int nla_put_s16(struct sk_buff *skb, int type, s16 v) { return nla_put(skb, type, sizeof(v), &v); }
static inline int nla_put_le16(struct sk_buff *skb, int type, __le16 v) { return nla_put(skb, type, sizeof(v), &v); }
static inline int nla_put_le32(struct sk_buff *skb, int type, __le32 v) { return nla_put(skb, type, sizeof(v), &v); }
static inline int nla_put_in_addr(struct sk_buff *skb, int type, __be32 v) { return nla_put(skb, type, sizeof(v), &v); }
static inline int nla_put_s64(struct sk_buff *skb, int type, s64 v, int pad) { return nla_put(skb, type, sizeof(v), &v); }
static inline int nla_put_be64(struct sk_buff *skb, int type, __be64 v, int pad) { return nla_put(skb, type, sizeof(v), &v); }
static inline int nla_put_le64(struct sk_buff *skb, int type, __le64 v, int pad) { return nla_put(skb, type, sizeof(v), &v); }
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
static inline u8 nla_get_u8_default(const struct nlattr *nla, u8 usual) { return nla ? nla_get_u8(nla) : usual; }
static inline u16 nla_get_u16_default(const struct nlattr *nla, u16 usual) { return nla ? nla_get_u16(nla) : usual; }
static inline u32 nla_get_u32_default(const struct nlattr *nla, u32 usual) { return nla ? nla_get_u32(nla) : usual; }
static inline u64 nla_get_u64_default(const struct nlattr *nla, u64 usual) { return nla ? nla_get_u64(nla) : usual; }
static inline s32 nla_get_s32_default(const struct nlattr *nla, s32 usual) { return nla ? nla_get_s32(nla) : usual; }
#endif
/* Numbers that take four bytes if they fit, and else eight. */
static inline u64 nla_get_uint(const struct nlattr *nla)
{
	return nla_len(nla) == sizeof(u32) ? nla_get_u32(nla) : nla_get_u64(nla);
}
static inline s64 nla_get_sint(const struct nlattr *nla)
{
	return nla_len(nla) == sizeof(s32) ? nla_get_s32(nla) : nla_get_s64(nla);
}
static inline int nla_put_uint(struct sk_buff *skb, int type, u64 value)
{
	return value == (u32)value ? nla_put_u32(skb, type, (u32)value) : nla_put_u64_64bit(skb, type, value, 0);
}
static inline int nla_put_sint(struct sk_buff *skb, int type, s64 value)
{
	return value == (s32)value ? nla_put_s32(skb, type, (s32)value) : nla_put_s64(skb, type, value, 0);
}
extern void *nla_memdup(const struct nlattr *nla, gfp_t gfp);
extern int nla_append(struct sk_buff *skb, int len, const void *data);
static inline bool nla_is_last(const struct nlattr *nla, int remaining) { return nla->nla_len == remaining; }
static inline struct nlattr *nla_find_nested(const struct nlattr *nla, int type)
{
	return nla_find(nla_data(nla), nla_len(nla), type);
}
#define nla_for_each_attr_type(pos, type, head, len, rem) \
	nla_for_each_attr(pos, head, len, rem) \
		if (nla_type(pos) == (type))
#define nla_for_each_nested_type(pos, type, nla, rem) \
	nla_for_each_nested(pos, nla, rem) \
		if (nla_type(pos) == (type))
extern int nla_memcpy(void *to, const struct nlattr *from, int count);
extern int nla_memcmp(const struct nlattr *nla, const void *data, size_t size);
extern int nla_strcmp(const struct nlattr *nla, const char *text);
extern ssize_t nla_strscpy(char *to, const struct nlattr *nla, size_t size);
/* Before 5.10. Return: the length of the whole. */
extern size_t nla_strlcpy(char *to, const struct nlattr *nla, size_t size);
extern char *nla_strdup(const struct nlattr *nla, gfp_t gfp);
static inline struct nlattr *nla_nest_start_noflag(struct sk_buff *skb, int type)
{
	return nla_reserve(skb, type, 0);
}
static inline struct nlattr *nla_nest_start(struct sk_buff *skb, int type) { return nla_reserve(skb, type | NLA_F_NESTED, 0); }
static inline int nla_nest_end(struct sk_buff *skb, struct nlattr *start)
{
	start->nla_len = (u16)(skb_tail_pointer(skb) - (unsigned char *)start);
	return (int)skb->len;
}
static inline void nla_nest_cancel(struct sk_buff *skb, struct nlattr *start) { nlmsg_trim(skb, start); }

/* @tb: as many pointers as @maxtype and one more. The last argument is there since 4.12. */
extern int kapi_nla_parse(struct nlattr **tb, int maxtype, const struct nlattr *head, int len, const struct nla_policy *policy,
			  struct netlink_ext_ack *extack);
#define nla_parse(...) KAPI_BY_COUNT(__kapi_nla_parse_, __VA_ARGS__)
#define __kapi_nla_parse_5(tb, max, head, len, policy) kapi_nla_parse(tb, max, head, len, policy, NULL)
#define __kapi_nla_parse_6(tb, max, head, len, policy, extack) kapi_nla_parse(tb, max, head, len, policy, extack)
#define nla_parse_deprecated(tb, max, head, len, policy, extack) kapi_nla_parse(tb, max, head, len, policy, extack)
#define nla_parse_nested(...) KAPI_BY_COUNT(__kapi_nla_parse_nested_, __VA_ARGS__)
#define __kapi_nla_parse_nested_4(tb, max, nla, policy) __kapi_nla_parse_nested_5(tb, max, nla, policy, NULL)
#define __kapi_nla_parse_nested_5(tb, max, nla, policy, extack) \
	kapi_nla_parse(tb, max, nla_data(nla), nla_len(nla), policy, extack)
#define nla_parse_nested_deprecated(tb, max, nla, policy, extack) __kapi_nla_parse_nested_5(tb, max, nla, policy, extack)
#define nlmsg_parse(...) KAPI_BY_COUNT(__kapi_nlmsg_parse_, __VA_ARGS__)
#define __kapi_nlmsg_parse_5(nlh, hdrlen, tb, max, policy) __kapi_nlmsg_parse_6(nlh, hdrlen, tb, max, policy, NULL)
#define __kapi_nlmsg_parse_6(nlh, hdrlen, tb, max, policy, extack) \
	(nlmsg_len(nlh) < (int)(hdrlen) ? -EINVAL : \
	 kapi_nla_parse(tb, max, nlmsg_attrdata(nlh, hdrlen), nlmsg_attrlen(nlh, hdrlen), policy, extack))
/* As nla_parse(), without the pointers. */
static inline int nla_validate(const struct nlattr *head, int len, int maxtype, const struct nla_policy *policy,
			       struct netlink_ext_ack *extack)
{
	return kapi_nla_parse(NULL, maxtype, head, len, policy, extack);
}
#define nla_validate_deprecated nla_validate
static inline int nla_validate_nested(const struct nlattr *nla, int maxtype, const struct nla_policy *policy,
				      struct netlink_ext_ack *extack)
{
	return nla_validate(nla_data(nla), nla_len(nla), maxtype, policy, extack);
}
static inline int nlmsg_validate_deprecated(const struct nlmsghdr *nlh, int hdrlen, int maxtype,
					    const struct nla_policy *policy, struct netlink_ext_ack *extack)
{
	if (nlmsg_len(nlh) < hdrlen)
		return -EINVAL;
	return nla_validate(nlmsg_attrdata(nlh, hdrlen), nlmsg_attrlen(nlh, hdrlen), maxtype, policy, extack);
}
static inline void *nlmsg_payload(const struct nlmsghdr *nlh, size_t len)
{
	return nlmsg_len(nlh) < (int)len ? NULL : nlmsg_data(nlh);
}
static inline int nlmsg_seq(const struct nlmsghdr *nlh) { return nlh ? (int)nlh->nlmsg_seq : 0; }
static inline struct nlmsghdr *nlmsg_put_answer(struct sk_buff *skb, struct netlink_callback *cb, int type, int payload,
						int flags)
{
	return nlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, type, payload, flags);
}
/* Tells a group, and who asked if @report. */
static inline int nlmsg_notify(struct sock *sk, struct sk_buff *skb, u32 portid, unsigned int group, int report, gfp_t flags)
{
	return group ? nlmsg_multicast(sk, skb, 0, group, flags) : nlmsg_unicast(sk, skb, portid);
}
#define nlmsg_parse_deprecated(nlh, hdrlen, tb, max, policy, extack) __kapi_nlmsg_parse_6(nlh, hdrlen, tb, max, policy, extack)

#endif
