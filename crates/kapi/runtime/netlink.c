// SPDX-License-Identifier: MIT OR Apache-2.0
// Sockets of netlink: the module's, by protocol, and one user's for each protocol that a step of --do asked for.
//
// How it works: a message to the user becomes a text at once and its buffer is freed, so that no buffer is the user's.
#include "host.h"
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <net/netlink.h>
#include <net/sock.h>

/* The user's number, as a process's number is. */
#define USER_PORT 4711
#define TEXT_BYTES 256
#define TEXTS_MAX 256

struct text {
	struct list_head list;
	int protocol;
	char bytes[TEXT_BYTES];
};

static LIST_HEAD(sockets);
static LIST_HEAD(texts);
static unsigned long users, waiting;
static DEFINE_SPINLOCK(lock);

static struct sock *socket_of(int protocol)
{
	struct sock *sk;

	list_for_each_entry(sk, &sockets, kapi_list)
		if (sk->sk_protocol == protocol)
			return sk;
	return NULL;
}

/* The runtime's own, if there is no site. */
static void *take(size_t bytes, unsigned long site)
{
	void *p = site ? kapi_kmalloc_for(bytes, GFP_KERNEL | __GFP_ZERO, site) : kapi_alloc(bytes);

	return p && !site ? memset(p, 0, bytes) : p;
}

static struct sock *new_socket(int unit, const struct netlink_kernel_cfg *cfg, unsigned long site)
{
	struct sock *sk;

	if (unit < 0 || unit >= MAX_LINKS || UNDER_LOCK(&lock, socket_of(unit)))
		return NULL;
	sk = take(KAPI_NETLINK_SOCK_BYTES, site);
	if (!sk)
		return NULL;
	sk->kapi_listeners = take(KAPI_NETLINK_LISTENERS_BYTES, site);
	if (!sk->kapi_listeners) {
		kapi_kfree_for(sk, site);
		return NULL;
	}
	sk->sk_family = AF_NETLINK;
	sk->sk_protocol = unit;
	sk->sk_allocation = GFP_KERNEL;
	skb_queue_head_init(&sk->sk_receive_queue);
	skb_queue_head_init(&sk->sk_write_queue);
	sk->kapi_input = cfg ? cfg->input : NULL;
	UNDER_LOCK(&lock, (list_add_tail(&sk->kapi_list, &sockets), 0));
	return sk;
}

/* One of the runtime's own. */
struct sock *kapi_netlink_open(int unit, const struct netlink_kernel_cfg *cfg) { return new_socket(unit, cfg, 0); }

struct sock *kapi_netlink_create(struct net *net, int unit, const struct netlink_kernel_cfg *cfg)
{
	unsigned long site = kapi_module_site();
	struct sock *sk;
	char name[16];

	might_sleep();
	sk = new_socket(unit, cfg, site);
	if (!sk)
		return NULL;
	scnprintf(name, sizeof(name), "%d", unit);
	kapi_stands_at(sk, "the netlink socket of protocol", name, site);
	return sk;
}

void netlink_kernel_release(struct sock *sk)
{
	unsigned long site = kapi_module_site();

	if (!sk)
		return;
	might_sleep();
	UNDER_LOCK(&lock, (list_del(&sk->kapi_list), 0));
	kapi_gone(sk);
	synchronize_rcu();
	skb_queue_purge(&sk->sk_receive_queue);
	kapi_kfree_for(sk->kapi_listeners, site);
	kapi_kfree_for(sk, site);
}

static bool user_hears(int protocol) { return READ_ONCE(users) & BIT(protocol); }

int netlink_has_listeners(struct sock *sk, unsigned int group) { return user_hears(sk->sk_protocol); }

/* What a message says to who reads it. */
static size_t printable(char *to, size_t size, const void *from, size_t bytes)
{
	size_t n = min(size - 1, bytes), i;

	while (n && !((const char *)from)[n - 1])
		n--;
	for (i = 0; i < n; i++) {
		char c = ((const char *)from)[i];

		to[i] = c < ' ' || c > '~' ? '.' : c;
	}
	to[n] = '\0';
	return n;
}

static size_t describe_error(char *to, size_t size, const struct nlmsghdr *nlh)
{
	const struct nlmsgerr *error = nlmsg_data(nlh);
	const struct nlattr *text = (const struct nlattr *)(error + 1);
	int left = nlmsg_len(nlh) - (int)sizeof(*error);

	if (!error->error)
		return (size_t)scnprintf(to, size, "ack");
	if (left > NLA_HDRLEN && nla_ok(text, left))
		return (size_t)scnprintf(to, size, "error %d: %s", error->error, (const char *)nla_data(text));
	return (size_t)scnprintf(to, size, "error %d", error->error);
}

/* Of a family of generic netlink: genetlink.c. */
static size_t (*describe_command)(char *to, size_t size, const struct nlmsghdr *nlh);
void kapi_netlink_describe(size_t (*fn)(char *to, size_t size, const struct nlmsghdr *nlh)) { describe_command = fn; }

static void keep_text(int protocol, const struct nlmsghdr *nlh)
{
	struct text *text = READ_ONCE(waiting) < TEXTS_MAX ? kapi_alloc(sizeof(*text)) : NULL;

	if (!text)
		return;
	text->protocol = protocol;
	if (nlh->nlmsg_type == NLMSG_ERROR)
		describe_error(text->bytes, sizeof(text->bytes), nlh);
	else if (protocol == NETLINK_GENERIC && nlh->nlmsg_type != NLMSG_DONE && describe_command)
		describe_command(text->bytes, sizeof(text->bytes), nlh);
	else if (nlh->nlmsg_type == NLMSG_DONE && (nlh->nlmsg_flags & NLM_F_MULTI))
		strscpy(text->bytes, "done", sizeof(text->bytes));
	else
		printable(text->bytes, sizeof(text->bytes), nlmsg_data(nlh), (size_t)nlmsg_len(nlh));
	UNDER_LOCK(&lock, (list_add_tail(&text->list, &texts), waiting++));
}

static void give_to_user(int protocol, struct sk_buff *skb)
{
	int rem = (int)skb->len;
	struct nlmsghdr *nlh;

	nlmsg_for_each_msg(nlh, nlmsg_hdr(skb), rem, rem)
		keep_text(protocol, nlh);
	consume_skb(skb);
}

static struct text *next_text(int protocol)
{
	struct text *text;

	list_for_each_entry(text, &texts, list)
		if (text->protocol == protocol) {
			list_del(&text->list);
			waiting--;
			return text;
		}
	return NULL;
}

/* The texts of what the user got, one behind another. */
size_t kapi_netlink_texts(int protocol, char *to, size_t size)
{
	struct text *text;
	size_t at = 0;

	while ((text = UNDER_LOCK(&lock, next_text(protocol)))) {
		at += (size_t)scnprintf(to + at, size - at, "%s%s", at ? "; " : "", text->bytes);
		kapi_free(text, sizeof(*text));
	}
	return at;
}

int netlink_unicast(struct sock *sk, struct sk_buff *skb, __u32 portid, int nonblock)
{
	int len = (int)skb->len;

	if (portid != USER_PORT || !user_hears(sk->sk_protocol)) {
		kfree_skb(skb);
		return -ECONNREFUSED;
	}
	give_to_user(sk->sk_protocol, skb);
	return len;
}

int netlink_broadcast(struct sock *sk, struct sk_buff *skb, __u32 portid, __u32 group, gfp_t gfp)
{
	if (!user_hears(sk->sk_protocol) || !group || portid == USER_PORT) {
		kfree_skb(skb);
		return -ESRCH;
	}
	give_to_user(sk->sk_protocol, skb);
	return 0;
}

/* A number and the message that it is about, with a text behind it. */
void kapi_netlink_ack(struct sk_buff *in, struct nlmsghdr *nlh, int error, const struct netlink_ext_ack *extack)
{
	const char *text = extack ? extack->_msg : NULL;
	size_t more = text ? (size_t)nla_total_size((int)strlen(text) + 1) : 0;
	struct sk_buff *skb = nlmsg_new(sizeof(struct nlmsgerr) + more, GFP_KERNEL);
	struct nlmsghdr *answer;

	if (!skb)
		return;
	answer = __nlmsg_put(skb, NETLINK_CB(in).portid, nlh->nlmsg_seq, NLMSG_ERROR, sizeof(struct nlmsgerr), 0);
	*(struct nlmsgerr *)nlmsg_data(answer) = (struct nlmsgerr){ .error = error, .msg = *nlh };
	if (text && !nla_put_string(skb, 1, text))
		nlmsg_end(skb, answer);
	netlink_unicast(in->sk, skb, NETLINK_CB(in).portid, 0);
}

static int call(kapi_netlink_fn fn, struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(4, 12, 0)
	return fn(skb, nlh);
#else
	return fn(skb, nlh, extack);
#endif
}

int netlink_rcv_skb(struct sk_buff *skb, kapi_netlink_fn fn)
{
	while (skb->len >= (unsigned int)nlmsg_total_size(0)) {
		struct netlink_ext_ack extack = { };
		struct nlmsghdr *nlh = nlmsg_hdr(skb);
		unsigned int bytes;
		int error = 0;

		if (nlh->nlmsg_len < (unsigned int)NLMSG_HDRLEN || skb->len < nlh->nlmsg_len)
			return 0;
		if ((nlh->nlmsg_flags & NLM_F_REQUEST) && nlh->nlmsg_type >= NLMSG_MIN_TYPE) {
			error = call(fn, skb, nlh, &extack);
			if (error == -EINTR)
				goto next;
		}
		if (error || (nlh->nlmsg_flags & NLM_F_ACK))
			kapi_netlink_ack(skb, nlh, error, &extack);
next:
		bytes = min(NLMSG_ALIGN(nlh->nlmsg_len), skb->len);
		skb_pull(skb, bytes);
	}
	return 0;
}

/* Fills buffers of a page each, until a call adds nothing. */
static int dump(struct sock *sk, struct netlink_callback *cb)
{
	struct sk_buff *skb;
	struct nlmsghdr *end;
	int result;

	do {
		skb = alloc_skb(NLMSG_GOODSIZE, GFP_KERNEL);
		if (!skb)
			return -ENOBUFS;
		NETLINK_CB(skb).portid = NETLINK_CB(cb->skb).portid;
		skb->sk = sk;
		result = cb->dump(skb, cb);
		if (result <= 0)
			break;
		netlink_unicast(sk, skb, USER_PORT, 0);
	} while (result > 0);
	end = nlmsg_put(skb, USER_PORT, cb->nlh->nlmsg_seq, NLMSG_DONE, sizeof(result), NLM_F_MULTI | cb->answer_flags);
	if (end)
		memcpy(nlmsg_data(end), &result, sizeof(result));
	skb->sk = NULL;
	netlink_unicast(sk, skb, USER_PORT, 0);
	return result;
}

int netlink_dump_start(struct sock *sk, struct sk_buff *skb, const struct nlmsghdr *nlh, struct netlink_dump_control *control)
{
	struct netlink_callback cb = { .skb = skb, .nlh = nlh, .dump = control->dump, .done = control->done,
				       .data = control->data, .module = control->module, .extack = control->extack,
				       .seq = nlh->nlmsg_seq };
	int error = control->start ? control->start(&cb) : 0;

	if (error)
		return error;
	dump(sk, &cb);
	if (cb.done)
		cb.done(&cb);
	/* Its end is the answer. */
	return -EINTR;
}

/* The user sends a message; only listens if there is no payload. Return: the message's bytes, or an error. */
long kapi_netlink_send(int protocol, int type, int flags, const void *payload, size_t len)
{
	static u32 seq;
	struct sk_buff *skb;
	struct sock *sk;
	long bytes;

	if (protocol < 0 || protocol >= MAX_LINKS)
		return -EPROTONOSUPPORT;
	sk = UNDER_LOCK(&lock, socket_of(protocol));
	if (!sk)
		return -EPROTONOSUPPORT;
	WRITE_ONCE(users, READ_ONCE(users) | BIT(protocol));
	if (!payload)
		return 0;
	if (!sk->kapi_input)
		return -ECONNREFUSED;
	/* The module's function has to give it back if it takes a reference. */
	skb = kapi_skb_for((unsigned int)nlmsg_total_size((int)len), GFP_KERNEL, (unsigned long)sk->kapi_input + 1);
	if (!skb)
		return -ENOBUFS;
	memcpy(nlmsg_data(__nlmsg_put(skb, USER_PORT, ++seq, type, (int)len, flags)), payload, len);
	NETLINK_CB(skb).portid = USER_PORT;
	NETLINK_CB(skb).sk = sk;
	skb->sk = sk;
	bytes = nlmsg_hdr(skb)->nlmsg_len;
	sk->kapi_input(skb);
	skb->sk = NULL;
	consume_skb(skb);
	return bytes;
}
