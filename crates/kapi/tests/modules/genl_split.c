/* A family whose command has a policy of its own, and whose dump of the same number has none (split operations, 6.6 on). */
#include <linux/module.h>
#include <linux/xarray.h>
#include <net/genetlink.h>

enum { A_UNSPEC, A_KEY, A_VALUE, A_MAX = A_VALUE };
enum { C_UNSPEC, C_SET, C_GET };

static DEFINE_XARRAY(store);
static struct genl_family family;
static const struct nla_policy set_policy[A_MAX + 1] = {
	[A_KEY] = { .type = NLA_U32 },
	[A_VALUE] = NLA_POLICY_MAX(NLA_U32, 1000),
};
static const struct nla_policy get_policy[A_KEY + 1] = { [A_KEY] = { .type = NLA_U32 } };

static int before(const struct genl_split_ops *ops, struct sk_buff *skb, struct genl_info *info)
{
	info->user_ptr[0] = kmalloc(64, GFP_KERNEL);
	return info->user_ptr[0] ? 0 : -ENOMEM;
}

static void behind(const struct genl_split_ops *ops, struct sk_buff *skb, struct genl_info *info)
{
	kfree(info->user_ptr[0]);
}

static int set(struct sk_buff *skb, struct genl_info *info)
{
	if (GENL_REQ_ATTR_CHECK(info, A_KEY) || GENL_REQ_ATTR_CHECK(info, A_VALUE))
		return -EINVAL;
	return xa_err(xa_store(&store, nla_get_u32(info->attrs[A_KEY]), xa_mk_value(nla_get_u32(info->attrs[A_VALUE])), GFP_KERNEL));
}

static int put(struct sk_buff *skb, unsigned long key, void *entry)
{
	return nla_put_u32(skb, A_KEY, (u32)key) ?: nla_put_u32(skb, A_VALUE, (u32)xa_to_value(entry));
}

static int get(struct sk_buff *skb, struct genl_info *info)
{
	u32 key = nla_get_u32(info->attrs[A_KEY]);
	struct sk_buff *answer = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	void *header = answer ? genlmsg_iput(answer, info) : NULL, *entry = xa_load(&store, key);

	if (!header || !entry || put(answer, key, entry)) {
		nlmsg_free(answer);
		return -EMSGSIZE;
	}
	genlmsg_end(answer, header);
	return genlmsg_reply(answer, info);
}

static int get_all(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct genl_info *info = genl_info_dump(cb);
	unsigned long key;
	void *entry;

	xa_for_each_start(&store, key, entry, cb->args[0]) {
		void *header = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, info->family, NLM_F_MULTI, C_GET);

		if (!header)
			break;
		if (put(skb, key, entry)) {
			genlmsg_cancel(skb, header);
			break;
		}
		genlmsg_end(skb, header);
		cb->args[0] = (long)key + 1;
	}
	return (int)skb->len;
}

static const struct genl_split_ops ops[] = {
	{ .cmd = C_SET, .pre_doit = before, .doit = set, .post_doit = behind, .policy = set_policy, .maxattr = A_VALUE,
	  .flags = GENL_CMD_CAP_DO | GENL_ADMIN_PERM },
	{ .cmd = C_GET, .doit = get, .policy = get_policy, .maxattr = A_KEY, .flags = GENL_CMD_CAP_DO },
	{ .cmd = C_GET, .dumpit = get_all, .flags = GENL_CMD_CAP_DUMP },
};

static struct genl_family family __ro_after_init = {
	.name = "kv", .version = 1, .netnsok = true, .parallel_ops = true, .module = THIS_MODULE, .split_ops = ops,
	.n_split_ops = ARRAY_SIZE(ops),
};

static int __init begin(void) { return genl_register_family(&family); }

static void __exit end(void)
{
	genl_unregister_family(&family);
	xa_destroy(&store);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
