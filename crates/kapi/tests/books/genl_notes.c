// A family of generic netlink: notes that users add, get, list and drop, with a policy, and a group that hears of new ones.
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/version.h>
#include <net/genetlink.h>

enum { NOTE_UNSPEC, NOTE_ID, NOTE_TEXT, NOTE_PRIORITY, NOTE_WHERE, __NOTE_MAX };
enum { WHERE_UNSPEC, WHERE_LINE, WHERE_PAGE, __WHERE_MAX };
enum { CMD_UNSPEC, CMD_ADD, CMD_GET, CMD_DROP };
#define NOTE_MAX (__NOTE_MAX - 1)

static const struct nla_policy where_policy[__WHERE_MAX] = {
	[WHERE_LINE] = { .type = NLA_U32 },
	[WHERE_PAGE] = { .type = NLA_U16 },
};
static const struct nla_policy note_policy[__NOTE_MAX] = {
	[NOTE_ID] = { .type = NLA_U32 },
	[NOTE_TEXT] = { .type = NLA_NUL_STRING, .len = 15 },
	[NOTE_PRIORITY] = NLA_POLICY_RANGE(NLA_U8, 1, 9),
	[NOTE_WHERE] = NLA_POLICY_NESTED(where_policy),
};

struct note {
	struct list_head list;
	u32 id;
	u8 priority;
	char text[16];
};

static LIST_HEAD(notes);
static DEFINE_MUTEX(notes_lock);
static u32 last_id;
static struct genl_family notes_family;

static int fill(struct sk_buff *skb, const struct note *note, u32 portid, u32 seq, int flags, u8 cmd)
{
	void *header = genlmsg_put(skb, portid, seq, &notes_family, flags, cmd);
	struct nlattr *where;

	if (!header)
		return -EMSGSIZE;
	if (nla_put_u32(skb, NOTE_ID, note->id) || nla_put_string(skb, NOTE_TEXT, note->text) ||
	    nla_put_u8(skb, NOTE_PRIORITY, note->priority))
		goto too_long;
	where = nla_nest_start(skb, NOTE_WHERE);
	if (!where || nla_put_u32(skb, WHERE_LINE, note->id * 10))
		goto too_long;
	nla_nest_end(skb, where);
	genlmsg_end(skb, header);
	return 0;
too_long:
	genlmsg_cancel(skb, header);
	return -EMSGSIZE;
}

static int note_add(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *news;
	struct note *note;

	if (!info->attrs[NOTE_TEXT]) {
		GENL_SET_ERR_MSG(info, "a note has a text");
		return -EINVAL;
	}
	note = kzalloc(sizeof(*note), GFP_KERNEL);
	if (!note)
		return -ENOMEM;
	nla_strscpy(note->text, info->attrs[NOTE_TEXT], sizeof(note->text));
	note->priority = info->attrs[NOTE_PRIORITY] ? nla_get_u8(info->attrs[NOTE_PRIORITY]) : 5;
	mutex_lock(&notes_lock);
	note->id = ++last_id;
	list_add_tail(&note->list, &notes);
	mutex_unlock(&notes_lock);
	news = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (news && !fill(news, note, 0, 0, 0, CMD_ADD))
		genlmsg_multicast(&notes_family, news, 0, 0, GFP_KERNEL);
	else
		nlmsg_free(news);
	return 0;
}

static struct note *find(u32 id)
{
	struct note *note;

	list_for_each_entry(note, &notes, list)
		if (note->id == id)
			return note;
	return NULL;
}

static int note_get(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *answer;
	struct note *note;
	int error = -ENOENT;

	if (!info->attrs[NOTE_ID])
		return -EINVAL;
	answer = genlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL);
	if (!answer)
		return -ENOMEM;
	mutex_lock(&notes_lock);
	note = find(nla_get_u32(info->attrs[NOTE_ID]));
	if (note)
		error = fill(answer, note, info->snd_portid, info->snd_seq, 0, CMD_GET);
	mutex_unlock(&notes_lock);
	if (!error)
		return genlmsg_reply(answer, info);
	nlmsg_free(answer);
	return error;
}

static int note_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct note *note;

	mutex_lock(&notes_lock);
	list_for_each_entry(note, &notes, list) {
		if (note->id <= cb->args[0])
			continue;
		if (fill(skb, note, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, NLM_F_MULTI, CMD_GET))
			break;
		cb->args[0] = note->id;
	}
	mutex_unlock(&notes_lock);
	return skb->len;
}

static int note_drop(struct sk_buff *skb, struct genl_info *info)
{
	struct note *note;

	mutex_lock(&notes_lock);
	note = info->attrs[NOTE_ID] ? find(nla_get_u32(info->attrs[NOTE_ID])) : NULL;
	if (note)
		list_del(&note->list);
	mutex_unlock(&notes_lock);
	kfree(note);
	return note ? 0 : -ENOENT;
}

static const struct genl_ops notes_ops[] = {
	{ .cmd = CMD_ADD, .doit = note_add },
	{ .cmd = CMD_GET, .doit = note_get, .dumpit = note_dump },
	{ .cmd = CMD_DROP, .doit = note_drop, .flags = GENL_ADMIN_PERM },
};
static const struct genl_multicast_group notes_groups[] = { { .name = "news" } };

static struct genl_family notes_family = {
	.name = "notes",
	.version = 1,
	.maxattr = NOTE_MAX,
	.policy = note_policy,
	.ops = notes_ops,
	.n_ops = ARRAY_SIZE(notes_ops),
	.mcgrps = notes_groups,
	.n_mcgrps = ARRAY_SIZE(notes_groups),
	.resv_start_op = CMD_DROP + 1,
	.module = THIS_MODULE,
};

static int __init notes_init(void)
{
	return genl_register_family(&notes_family);
}

static void __exit notes_exit(void)
{
	struct note *note, *next;

	genl_unregister_family(&notes_family);
	list_for_each_entry_safe(note, next, &notes, list)
		kfree(note);
}

module_init(notes_init);
module_exit(notes_exit);
MODULE_LICENSE("GPL");
