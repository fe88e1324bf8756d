// SPDX-License-Identifier: MIT OR Apache-2.0
// A table of objects over generic netlink: a policy with a nest, events for listeners, and a dump with its start and end.
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/init.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <net/genetlink.h>

enum item_attrs {
	ITEM_A_UNSPEC,
	ITEM_A_ID,
	ITEM_A_NAME,
	ITEM_A_VALUE,
	ITEM_A_FLAG,
	ITEM_A_NESTED,
	ITEM_A_PAD,
	ITEM_A_BIG,
	__ITEM_A_MAX,
};
#define ITEM_A_MAX (__ITEM_A_MAX - 1)
enum item_nest { ITEM_N_UNSPEC, ITEM_N_X, ITEM_N_Y, __ITEM_N_MAX };
#define ITEM_N_MAX (__ITEM_N_MAX - 1)
enum item_cmds {
	ITEM_C_UNSPEC,
	ITEM_C_ADD,
	ITEM_C_DEL,
	ITEM_C_GET,
	ITEM_C_EVENT,
	__ITEM_C_MAX,
};
#define ITEM_C_MAX (__ITEM_C_MAX - 1)

struct item {
	struct list_head node;
	u32 id;
	char *name;
	u64 big;
	u16 value;
	bool flag;
};
static LIST_HEAD(items);
static DEFINE_MUTEX(item_lock);
static struct genl_family item_family;

static const struct nla_policy item_nest_policy[ITEM_N_MAX + 1] = {
	[ITEM_N_X] = { .type = NLA_U32 },
	[ITEM_N_Y] = { .type = NLA_U32 },
};
static const struct nla_policy item_policy[ITEM_A_MAX + 1] = {
	[ITEM_A_ID] = { .type = NLA_U32 },
	[ITEM_A_NAME] = { .type = NLA_NUL_STRING, .len = 31 },
	[ITEM_A_VALUE] = NLA_POLICY_RANGE(NLA_U16, 1, 1000),
	[ITEM_A_FLAG] = { .type = NLA_FLAG },
	[ITEM_A_NESTED] = NLA_POLICY_NESTED(item_nest_policy),
	[ITEM_A_BIG] = { .type = NLA_U64 },
};

static struct item *item_find(u32 id)
{
	struct item *f;

	list_for_each_entry(f, &items, node)
		if (f->id == id)
			return f;
	return NULL;
}

static int item_fill(struct sk_buff *skb, u32 portid, u32 seq, int flags, u8 cmd, const struct item *f)
{
	struct nlattr *nest;
	void *hdr = genlmsg_put(skb, portid, seq, &item_family, flags, cmd);

	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(skb, ITEM_A_ID, f->id) ||
	    nla_put_string(skb, ITEM_A_NAME, f->name) ||
	    nla_put_u16(skb, ITEM_A_VALUE, f->value) ||
	    (f->flag && nla_put_flag(skb, ITEM_A_FLAG)) ||
	    nla_put_u64_64bit(skb, ITEM_A_BIG, f->big, ITEM_A_PAD))
		goto nla_put_failure;
	nest = nla_nest_start(skb, ITEM_A_NESTED);
	if (!nest)
		goto nla_put_failure;
	if (nla_put_u32(skb, ITEM_N_X, f->id * 2) || nla_put_u32(skb, ITEM_N_Y, f->id * 3)) {
		nla_nest_cancel(skb, nest);
		goto nla_put_failure;
	}
	nla_nest_end(skb, nest);
	genlmsg_end(skb, hdr);
	return 0;
nla_put_failure:
	genlmsg_cancel(skb, hdr);
	return -EMSGSIZE;
}

static void item_notify(const struct item *f)
{
	struct sk_buff *msg;

	if (!genl_has_listeners(&item_family, &init_net, 0))
		return;
	msg = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!msg)
		return;
	if (item_fill(msg, 0, 0, 0, ITEM_C_EVENT, f) < 0) {
		nlmsg_free(msg);
		return;
	}
	genlmsg_multicast(&item_family, msg, 0, 0, GFP_KERNEL);
}

static int item_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[ITEM_N_MAX + 1];
	struct item *f;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, ITEM_A_ID) || !info->attrs[ITEM_A_NAME]) {
		NL_SET_ERR_MSG(info->extack, "id and name are required");
		return -EINVAL;
	}
	f = kzalloc(sizeof(*f), GFP_KERNEL);
	if (!f)
		return -ENOMEM;
	f->id = nla_get_u32(info->attrs[ITEM_A_ID]);
	f->name = nla_strdup(info->attrs[ITEM_A_NAME], GFP_KERNEL);
	if (!f->name) {
		err = -ENOMEM;
		goto free;
	}
	f->value = info->attrs[ITEM_A_VALUE] ? nla_get_u16(info->attrs[ITEM_A_VALUE]) : 1;
	f->flag = nla_get_flag(info->attrs[ITEM_A_FLAG]);
	if (info->attrs[ITEM_A_BIG])
		f->big = nla_get_u64(info->attrs[ITEM_A_BIG]);
	if (info->attrs[ITEM_A_NESTED]) {
		err = nla_parse_nested(tb, ITEM_N_MAX, info->attrs[ITEM_A_NESTED], item_nest_policy, info->extack);
		if (err)
			goto free_name;
	}
	mutex_lock(&item_lock);
	if (item_find(f->id)) {
		mutex_unlock(&item_lock);
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[ITEM_A_ID], "id exists");
		err = -EEXIST;
		goto free_name;
	}
	list_add_tail(&f->node, &items);
	item_notify(f);
	mutex_unlock(&item_lock);
	return 0;
free_name:
	kfree(f->name);
free:
	kfree(f);
	return err;
}

static int item_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct item *f;

	if (!info->attrs[ITEM_A_ID])
		return -EINVAL;
	mutex_lock(&item_lock);
	f = item_find(nla_get_u32(info->attrs[ITEM_A_ID]));
	if (f)
		list_del(&f->node);
	mutex_unlock(&item_lock);
	if (!f) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 0)
		GENL_SET_ERR_MSG_FMT(info, "no item %u", nla_get_u32(info->attrs[ITEM_A_ID]));
#endif
		return -ENOENT;
	}
	kfree(f->name);
	kfree(f);
	return 0;
}

static int item_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *msg;
	struct item *f;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, ITEM_A_ID))
		return -EINVAL;
	msg = nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	mutex_lock(&item_lock);
	f = item_find(nla_get_u32(info->attrs[ITEM_A_ID]));
	err = f ? item_fill(msg, info->snd_portid, info->snd_seq, 0, ITEM_C_GET, f) : -ENOENT;
	mutex_unlock(&item_lock);
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	return genlmsg_reply(msg, info);
}

static int item_get_start(struct netlink_callback *cb)
{
	const struct genl_dumpit_info *info = genl_dumpit_info(cb);

	cb->args[1] = info->op.cmd;
	return 0;
}

static int item_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct item *f;
	int idx = 0;

	mutex_lock(&item_lock);
	list_for_each_entry(f, &items, node) {
		if (idx++ < cb->args[0])
			continue;
		if (item_fill(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, NLM_F_MULTI, ITEM_C_GET, f)) {
			idx--;
			break;
		}
	}
	mutex_unlock(&item_lock);
	cb->args[0] = idx;
	return skb->len;
}

static int item_get_done(struct netlink_callback *cb)
{
	pr_info("dump of %ld with cmd %ld done\n", cb->args[0], cb->args[1]);
	return 0;
}

static const struct genl_multicast_group item_groups[] = {
	{ .name = "events" },
};

static const struct genl_ops item_ops[] = {
	{
		.cmd = ITEM_C_ADD,
		.doit = item_add_doit,
		.flags = GENL_ADMIN_PERM,
		.validate = GENL_DONT_VALIDATE_STRICT | GENL_DONT_VALIDATE_DUMP,
	},
	{
		.cmd = ITEM_C_DEL,
		.doit = item_del_doit,
		.flags = GENL_ADMIN_PERM,
	},
	{
		.cmd = ITEM_C_GET,
		.doit = item_get_doit,
		.start = item_get_start,
		.dumpit = item_get_dumpit,
		.done = item_get_done,
	},
};

static struct genl_family item_family __ro_after_init = {
	.name = "item",
	.version = 1,
	.maxattr = ITEM_A_MAX,
	.policy = item_policy,
	.module = THIS_MODULE,
	.ops = item_ops,
	.n_ops = ARRAY_SIZE(item_ops),
	.mcgrps = item_groups,
	.n_mcgrps = ARRAY_SIZE(item_groups),
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 1, 0)
	.resv_start_op = ITEM_C_GET + 1,
#endif
};

static int __init item_init(void)
{
	return genl_register_family(&item_family);
}

static void __exit item_exit(void)
{
	struct item *f, *tmp;

	genl_unregister_family(&item_family);
	list_for_each_entry_safe(f, tmp, &items, node) {
		list_del(&f->node);
		kfree(f->name);
		kfree(f);
	}
}
module_init(item_init);
module_exit(item_exit);
MODULE_LICENSE("GPL");
MODULE_ALIAS_GENL_FAMILY("item");
