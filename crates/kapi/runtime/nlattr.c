// SPDX-License-Identifier: MIT OR Apache-2.0
// Attributes of messages: made, found, and looked at by a policy.
#include "host.h"
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/unaligned.h>
#include <net/netlink.h>

struct nlattr *nla_find(const struct nlattr *head, int len, int attrtype)
{
	const struct nlattr *nla;
	int rem;

	nla_for_each_attr(nla, head, len, rem)
		if (nla_type(nla) == attrtype)
			return (struct nlattr *)nla;
	return NULL;
}

struct nlattr *nla_reserve(struct sk_buff *skb, int type, int len)
{
	struct nlattr *nla;

	if (skb_tailroom(skb) < nla_total_size(len))
		return NULL;
	nla = skb_put(skb, (unsigned int)nla_total_size(len));
	nla->nla_type = (u16)type;
	nla->nla_len = (u16)nla_attr_size(len);
	memset((char *)nla + nla->nla_len, 0, (size_t)nla_padlen(len));
	return nla;
}

void *nla_reserve_nohdr(struct sk_buff *skb, int len)
{
	return skb_tailroom(skb) < NLA_ALIGN(len) ? NULL : skb_put_zero(skb, (unsigned int)NLA_ALIGN(len));
}

int nla_put(struct sk_buff *skb, int type, int len, const void *data)
{
	struct nlattr *nla = nla_reserve(skb, type, len);

	if (!nla)
		return -EMSGSIZE;
	if (len)
		memcpy(nla_data(nla), data, (size_t)len);
	return 0;
}

int nla_put_nohdr(struct sk_buff *skb, int len, const void *data)
{
	void *to = nla_reserve_nohdr(skb, len);

	if (!to)
		return -EMSGSIZE;
	memcpy(to, data, (size_t)len);
	return 0;
}

struct nlmsghdr *__nlmsg_put(struct sk_buff *skb, u32 portid, u32 seq, int type, int len, int flags)
{
	struct nlmsghdr *nlh = skb_put(skb, (unsigned int)nlmsg_total_size(len));

	*nlh = (struct nlmsghdr){ .nlmsg_len = (u32)nlmsg_msg_size(len), .nlmsg_type = (u16)type, .nlmsg_flags = (u16)flags,
				  .nlmsg_seq = seq, .nlmsg_pid = portid };
	memset((char *)nlmsg_data(nlh) + len, 0, (size_t)nlmsg_padlen(len));
	return nlh;
}

u64 nla_get_u64(const struct nlattr *nla)
{
	u64 value = 0;

	memcpy(&value, nla_data(nla), min(sizeof(value), (size_t)nla_len(nla)));
	return value;
}

int nla_memcpy(void *to, const struct nlattr *from, int count)
{
	int n = min(count, (int)nla_len(from));

	memcpy(to, nla_data(from), (size_t)n);
	if (count > n)
		memset((char *)to + n, 0, (size_t)(count - n));
	return n;
}

int nla_memcmp(const struct nlattr *nla, const void *data, size_t size)
{
	return nla_len(nla) != size ? (int)nla_len(nla) - (int)size : memcmp(nla_data(nla), data, size);
}

/* The text's bytes, without the zero that may end it. */
static size_t text_bytes(const struct nlattr *nla)
{
	return strnlen(nla_data(nla), nla_len(nla));
}

int nla_strcmp(const struct nlattr *nla, const char *text)
{
	size_t n = text_bytes(nla), other = strlen(text);

	return n != other ? (int)n - (int)other : memcmp(nla_data(nla), text, n);
}

ssize_t nla_strscpy(char *to, const struct nlattr *nla, size_t size)
{
	size_t n = text_bytes(nla), copied = min(n, size - 1);

	if (!size)
		return -E2BIG;
	memcpy(to, nla_data(nla), copied);
	memset(to + copied, 0, size - copied);
	return n < size ? (ssize_t)n : -E2BIG;
}

size_t nla_strlcpy(char *to, const struct nlattr *nla, size_t size)
{
	if (size)
		nla_strscpy(to, nla, size);
	return text_bytes(nla);
}

void *nla_memdup(const struct nlattr *nla, gfp_t gfp)
{
	void *p = kapi_kmalloc_for(nla_len(nla), gfp, kapi_module_site());

	return p ? memcpy(p, nla_data(nla), nla_len(nla)) : NULL;
}

int nla_append(struct sk_buff *skb, int len, const void *data)
{
	if (skb_tailroom(skb) < (int)NLA_ALIGN(len))
		return -EMSGSIZE;
	skb_put_data(skb, data, (unsigned int)len);
	return 0;
}

char *nla_strdup(const struct nlattr *nla, gfp_t gfp)
{
	size_t n = text_bytes(nla);
	char *text = kmalloc(n + 1, gfp);

	if (text) {
		memcpy(text, nla_data(nla), n);
		text[n] = '\0';
	}
	return text;
}

/* Policies. */
static int bytes_at_least(u8 type)
{
	switch (type) {
	case NLA_U8:
	case NLA_S8:
		return 1;
	case NLA_U16:
	case NLA_S16:
		return 2;
	case NLA_U32:
	case NLA_S32:
		return 4;
	case NLA_U64:
	case NLA_S64:
	case NLA_MSECS:
	case NLA_BITFIELD32:
		return 8;
	default:
		return 0;
	}
}

static s64 value_of(const struct nlattr *nla, u8 type)
{
	switch (type) {
	case NLA_U8:
		return nla_get_u8(nla);
	case NLA_S8:
		return (signed char)nla_get_u8(nla);
	case NLA_U16:
		return nla_get_u16(nla);
	case NLA_S16:
		return (s16)nla_get_u16(nla);
	case NLA_U32:
		return nla_get_u32(nla);
	case NLA_S32:
		return nla_get_s32(nla);
	default:
		return (s64)nla_get_u64(nla);
	}
}

static bool is_in_range(const struct nlattr *nla, const struct nla_policy *p)
{
	s64 value;

	if (p->validation_type == NLA_VALIDATE_NONE || p->validation_type == KAPI_VALIDATE_EXACT)
		return true;
	value = value_of(nla, p->type);
	return (p->validation_type == NLA_VALIDATE_MAX || value >= p->min) &&
	       (p->validation_type == NLA_VALIDATE_MIN || value <= p->max);
}

static int text_is_good(const struct nlattr *nla, const struct nla_policy *p)
{
	int len = nla_len(nla);
	const char *text = nla_data(nla);

	if (p->type == NLA_NUL_STRING && !memchr(text, '\0', (size_t)(p->len ? min(len, p->len + 1) : len)))
		return -EINVAL;
	if (len < 1)
		return -ERANGE;
	if (p->len && len - (text[len - 1] == '\0') > p->len)
		return -ERANGE;
	return 0;
}

static int is_good(const struct nlattr *nla, const struct nla_policy *p, struct netlink_ext_ack *extack)
{
	int len = nla_len(nla), least = bytes_at_least(p->type);

	switch (p->type) {
	case NLA_REJECT:
		NL_SET_ERR_MSG(extack, p->reject_message);
		return -EINVAL;
	case NLA_FLAG:
		return len ? -ERANGE : 0;
	case NLA_STRING:
	case NLA_NUL_STRING:
		return text_is_good(nla, p);
	case NLA_BINARY:
		if (p->validation_type == KAPI_VALIDATE_EXACT)
			return len != p->len ? -ERANGE : 0;
		return p->len && len > p->len ? -ERANGE : 0;
	case NLA_NESTED:
		if (!len || !p->nested_policy)
			return 0;
		return kapi_nla_parse(NULL, p->len, nla_data(nla), len, p->nested_policy, extack);
	case NLA_UNSPEC:
		least = p->len;
		break;
	default:
		break;
	}
	if (len < least)
		return -ERANGE;
	if (!is_in_range(nla, p)) {
		NL_SET_ERR_MSG(extack, "integer out of range");
		return -ERANGE;
	}
	return 0;
}

int kapi_nla_parse(struct nlattr **tb, int maxtype, const struct nlattr *head, int len, const struct nla_policy *policy,
		   struct netlink_ext_ack *extack)
{
	const struct nlattr *nla;
	int rem, type, error;

	if (tb)
		memset(tb, 0, sizeof(*tb) * (size_t)(maxtype + 1));
	nla_for_each_attr(nla, head, len, rem) {
		type = nla_type(nla);
		if (!type || type > maxtype)
			continue;
		error = policy ? is_good(nla, &policy[type], extack) : 0;
		if (error) {
			if (extack)
				extack->bad_attr = nla;
			if (extack && !extack->_msg)
				extack->_msg = "Attribute failed policy validation";
			return error;
		}
		if (tb)
			tb[type] = (struct nlattr *)nla;
	}
	return 0;
}
