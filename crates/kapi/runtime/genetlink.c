// SPDX-License-Identifier: MIT OR Apache-2.0
// Families of generic netlink: by name, over one socket of the runtime's, and how their commands are called.
#include "host.h"
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/sock.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 0)
KAPI_IS_LARGE(struct genl_dumpit_info, KAPI_GENL_DUMPIT_INFO_BYTES);
#endif

#define FIRST_ID 0x14
#define ATTRIBUTES_MAX 256

static LIST_HEAD(families);
static DEFINE_MUTEX(lock);
static struct sock *genl;
static unsigned int next_group = 1;
static int next_id = FIRST_ID;

/* One command, from whichever of the family's arrays. */
struct command {
	int (*doit)(struct sk_buff *skb, struct genl_info *info);
	int (*pre)(const struct genl_split_ops *ops, struct sk_buff *skb, struct genl_info *info);
	void (*post)(const struct genl_split_ops *ops, struct sk_buff *skb, struct genl_info *info);
	struct netlink_dump_control dump;
	const struct nla_policy *policy;
	unsigned int maxattr;
	u8 cmd, internal_flags, flags;
};

static struct genl_family *family_of(int id)
{
	struct genl_family *family;

	list_for_each_entry(family, &families, kapi_list)
		if (family->id == id)
			return family;
	return NULL;
}

/* A command and its dump have a policy each. */
static void find_split(const struct genl_family *family, u8 cmd, bool dumps, struct command *found)
{
	int i;

	for (i = 0; i < family->n_split_ops; i++) {
		const struct genl_split_ops *ops = &family->split_ops[i];

		if (ops->cmd != cmd || dumps != !!(ops->flags & GENL_CMD_CAP_DUMP))
			continue;
		found->policy = ops->policy;
		found->maxattr = ops->maxattr;
		found->internal_flags = ops->internal_flags;
		found->flags |= ops->flags;
		if (dumps) {
			found->dump = (struct netlink_dump_control){ .start = ops->start, .dump = ops->dumpit, .done = ops->done };
			continue;
		}
		found->doit = ops->doit;
		found->pre = ops->pre_doit;
		found->post = ops->post_doit;
	}
}

static bool find(const struct genl_family *family, u8 cmd, bool dumps, struct command *found)
{
	int i;

	*found = (struct command){ .cmd = cmd, .policy = family->policy, .maxattr = family->maxattr };
	for (i = 0; i < family->n_ops; i++) {
		const struct genl_ops *ops = &family->ops[i];

		if (ops->cmd != cmd)
			continue;
		found->doit = ops->doit;
		found->dump = (struct netlink_dump_control){ .start = ops->start, .dump = ops->dumpit, .done = ops->done };
		found->policy = ops->policy ?: found->policy;
		found->maxattr = ops->maxattr ?: found->maxattr;
		found->internal_flags = ops->internal_flags;
		found->flags = ops->flags;
	}
	for (i = 0; i < family->n_small_ops; i++) {
		const struct genl_small_ops *ops = &family->small_ops[i];

		if (ops->cmd != cmd)
			continue;
		found->doit = ops->doit;
		found->dump = (struct netlink_dump_control){ .dump = ops->dumpit };
		found->internal_flags = ops->internal_flags;
		found->flags = ops->flags;
	}
	find_split(family, cmd, dumps, found);
	return found->doit || found->dump.dump;
}

/* What the family's functions around a command get. */
static int before(const struct genl_family *family, const struct command *c, struct sk_buff *skb, struct genl_info *info)
{
	struct kapi_genl_ops ops = { .cmd = c->cmd, .internal_flags = c->internal_flags, .flags = c->flags };
	struct genl_split_ops split = { .cmd = c->cmd, .internal_flags = c->internal_flags, .flags = c->flags };

	if (c->pre)
		return c->pre(&split, skb, info);
	return family->pre_doit ? family->pre_doit(&ops, skb, info) : 0;
}

static void behind(const struct genl_family *family, const struct command *c, struct sk_buff *skb, struct genl_info *info)
{
	struct kapi_genl_ops ops = { .cmd = c->cmd, .internal_flags = c->internal_flags, .flags = c->flags };
	struct genl_split_ops split = { .cmd = c->cmd, .internal_flags = c->internal_flags, .flags = c->flags };

	if (c->post)
		c->post(&split, skb, info);
	else if (family->post_doit)
		family->post_doit(&ops, skb, info);
}

static struct genl_info about(const struct genl_family *family, struct sk_buff *skb, struct nlmsghdr *nlh,
			      struct netlink_ext_ack *extack)
{
	struct genl_info info = { .snd_seq = nlh->nlmsg_seq, .snd_portid = NETLINK_CB(skb).portid,
				  .nlhdr = nlh, .genlhdr = nlmsg_data(nlh), .extack = extack };

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
	info.userhdr = genlmsg_data(info.genlhdr);
#else
	info.family = family;
#endif
	return info;
}

/* The attributes of a command by number, for the function at @site; none if it takes none. */
static int parse(const struct genl_family *family, const struct command *c, struct nlmsghdr *nlh, struct nlattr ***attrs,
		 struct netlink_ext_ack *extack, unsigned long site)
{
	*attrs = NULL;
	if (!c->maxattr)
		return 0;
	*attrs = kapi_kmalloc_for((c->maxattr + 1) * sizeof(**attrs), GFP_KERNEL | __GFP_ZERO, site);
	if (!*attrs)
		return -ENOMEM;
	return nlmsg_parse(nlh, GENL_HDRLEN + (int)family->hdrsize, *attrs, (int)c->maxattr, c->policy, extack);
}

static int do_command(const struct genl_family *family, const struct command *c, struct sk_buff *skb, struct nlmsghdr *nlh,
		      struct netlink_ext_ack *extack)
{
	unsigned long site = (unsigned long)c->doit + 1;
	struct genl_info info = about(family, skb, nlh, extack);
	int error = parse(family, c, nlh, &info.attrs, extack, site);

	if (!error)
		error = before(family, c, skb, &info);
	if (!error) {
		error = c->doit(skb, &info);
		behind(family, c, skb, &info);
	}
	kapi_kfree_for(info.attrs, site);
	return error;
}

/* Its data are blocks of kmalloc's, as Linux has them, until it is over. */
static int dump_command(const struct genl_family *family, struct command *c, struct sk_buff *skb, struct nlmsghdr *nlh,
			struct netlink_ext_ack *extack)
{
	unsigned long site = (unsigned long)c->dump.dump + 1;
	struct genl_dumpit_info *info = kapi_kmalloc_for(sizeof(*info), GFP_KERNEL | __GFP_ZERO, site);
	struct nlattr **attrs = NULL;
	int error = info ? parse(family, c, nlh, &attrs, extack, site) : -ENOMEM;

	if (!error) {
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
		info->family = family;
		info->attrs = attrs;
#else
		info->info = about(family, skb, nlh, extack);
		info->info.attrs = attrs;
#endif
		info->op.cmd = c->cmd;
		info->op.internal_flags = c->internal_flags;
		info->op.flags = c->flags;
		c->dump.data = info;
		c->dump.module = family->module;
		c->dump.extack = extack;
		error = netlink_dump_start(genl, skb, nlh, &c->dump);
	}
	kapi_kfree_for(attrs, site);
	kapi_kfree_for(info, site);
	return error;
}

static int receive(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct genl_family *family = family_of(nlh->nlmsg_type);
	struct genlmsghdr *header = nlmsg_data(nlh);
	struct command c;
	bool dumps;

	if (!family)
		return -ENOENT;
	if (nlh->nlmsg_len < (u32)nlmsg_msg_size(GENL_HDRLEN + (int)family->hdrsize))
		return -EINVAL;
	dumps = (nlh->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	if (!find(family, header->cmd, dumps, &c))
		return -EOPNOTSUPP;
	if (!dumps)
		return c.doit ? do_command(family, &c, skb, nlh, extack) : -EOPNOTSUPP;
	if (!c.dump.dump)
		return -EOPNOTSUPP;
	return dump_command(family, &c, skb, nlh, extack);
}

#if LINUX_VERSION_CODE < KERNEL_VERSION(4, 12, 0)
static int received(struct sk_buff *skb, struct nlmsghdr *nlh)
{
	struct netlink_ext_ack extack = { };

	return receive(skb, nlh, &extack);
}
#else
#define received receive
#endif

static void input(struct sk_buff *skb)
{
	mutex_lock(&lock);
	netlink_rcv_skb(skb, received);
	mutex_unlock(&lock);
}

void genl_lock(void) { mutex_lock(&lock); }
void genl_unlock(void) { mutex_unlock(&lock); }

/* A text of a message to the user: the command, and its attributes as texts and numbers. */
static bool is_text(const char *data, int len)
{
	int i;

	if (len < 2 || data[len - 1])
		return false;
	for (i = 0; i < len - 1; i++)
		if (data[i] < ' ' || data[i] > '~')
			return false;
	return true;
}

static size_t describe_attributes(char *to, size_t size, const struct nlattr *head, int len)
{
	const struct nlattr *nla;
	size_t at = 0;
	int rem;

	nla_for_each_attr(nla, head, len, rem) {
		int n = nla_len(nla);

		at += (size_t)scnprintf(to + at, size - at, " %d", nla_type(nla));
		if (nla->nla_type & NLA_F_NESTED) {
			at += (size_t)scnprintf(to + at, size - at, "={");
			at += describe_attributes(to + at, size - at, nla_data(nla), n);
			at += (size_t)scnprintf(to + at, size - at, " }");
		} else if (is_text(nla_data(nla), n)) {
			at += (size_t)scnprintf(to + at, size - at, "=%s", (const char *)nla_data(nla));
		} else if (n == 1 || n == 2 || n == 4 || n == 8) {
			at += (size_t)scnprintf(to + at, size - at, "=%llu", nla_get_u64(nla));
		} else if (n) {
			at += (size_t)scnprintf(to + at, size - at, "=%d bytes", n);
		}
	}
	return at;
}

static size_t describe(char *to, size_t size, const struct nlmsghdr *nlh)
{
	const struct genl_family *family = family_of(nlh->nlmsg_type);
	const struct genlmsghdr *header = nlmsg_data(nlh);
	int hdrlen = GENL_HDRLEN + (family ? (int)family->hdrsize : 0);
	size_t at = (size_t)scnprintf(to, size, "command %u", header->cmd);

	return at + describe_attributes(to + at, size - at, nlmsg_attrdata(nlh, hdrlen), nlmsg_attrlen(nlh, hdrlen));
}

static int socket_is_there(void)
{
	struct netlink_kernel_cfg cfg = { .input = input };

	if (genl)
		return 0;
	genl = kapi_netlink_open(NETLINK_GENERIC, &cfg);
	init_net.genl_sock = genl;
	kapi_netlink_describe(describe);
	return genl ? 0 : -ENOMEM;
}

static int register_one(struct genl_family *family, unsigned long site)
{
	struct genl_family *other;
	int error = socket_is_there();

	if (error)
		return error;
	list_for_each_entry(other, &families, kapi_list)
		if (!strcmp(other->name, family->name))
			return -EEXIST;
	family->id = next_id++;
	family->mcgrp_offset = next_group;
	next_group += family->n_mcgrps;
	list_add_tail(&family->kapi_list, &families);
	kapi_stands_at(family, "the family of generic netlink", family->name, site);
	return 0;
}

int genl_register_family(struct genl_family *family)
{
	unsigned long site = kapi_module_site();
	int error;

	mutex_lock(&lock);
	error = register_one(family, site);
	mutex_unlock(&lock);
	return error;
}

int kapi_genl_register(struct genl_family *family, const struct genl_ops *ops, size_t n)
{
	family->ops = ops;
	family->n_ops = (u8)n;
	return genl_register_family(family);
}

int genl_unregister_family(const struct genl_family *family)
{
	struct genl_family *found;

	mutex_lock(&lock);
	found = family_of(family->id);
	if (found == family)
		list_del(&found->kapi_list);
	mutex_unlock(&lock);
	if (found != family)
		return -ENOENT;
	kapi_gone(family);
	return 0;
}

void *genlmsg_put(struct sk_buff *skb, u32 portid, u32 seq, const struct genl_family *family, int flags, u8 cmd)
{
	int bytes = GENL_HDRLEN + (int)family->hdrsize;
	struct nlmsghdr *nlh = nlmsg_put(skb, portid, seq, family->id, bytes, flags);
	struct genlmsghdr *header;

	if (!nlh)
		return NULL;
	header = nlmsg_data(nlh);
	*header = (struct genlmsghdr){ .cmd = cmd, .version = (u8)family->version };
	return (char *)header + GENL_HDRLEN;
}

int genlmsg_unicast(struct net *net, struct sk_buff *skb, u32 portid)
{
	if (genl)
		return nlmsg_unicast(genl, skb, portid);
	nlmsg_free(skb);
	return -ECONNREFUSED;
}

int genlmsg_multicast(const struct genl_family *family, struct sk_buff *skb, u32 portid, unsigned int group, gfp_t flags)
{
	if (WARN_ON_ONCE(group >= family->n_mcgrps)) {
		nlmsg_free(skb);
		return -EINVAL;
	}
	return nlmsg_multicast(genl, skb, portid, family->mcgrp_offset + group, flags);
}

int genl_has_listeners(const struct genl_family *family, struct net *net, unsigned int group)
{
	return genl && group < family->n_mcgrps && netlink_has_listeners(genl, family->mcgrp_offset + group);
}

/* The user sends a command of a family by its name, with @attributes behind the headers; with @cmd below 0 it listens. */
long kapi_genl_send(const char *name, int cmd, int flags, const void *attributes, size_t len)
{
	struct genl_family *family;
	char buf[ATTRIBUTES_MAX + 64] = "";
	size_t at;

	list_for_each_entry(family, &families, kapi_list)
		if (!strcmp(family->name, name))
			goto found;
	return -ENOENT;
found:
	if (cmd < 0)
		return kapi_netlink_send(NETLINK_GENERIC, 0, 0, NULL, 0);
	at = (size_t)GENL_HDRLEN + NLMSG_ALIGN(family->hdrsize);
	if (at + len > sizeof(buf))
		return -EMSGSIZE;
	*(struct genlmsghdr *)buf = (struct genlmsghdr){ .cmd = (u8)cmd, .version = (u8)family->version };
	memcpy(buf + at, attributes, len);
	return kapi_netlink_send(NETLINK_GENERIC, family->id, NLM_F_REQUEST | flags, buf, at + len);
}
