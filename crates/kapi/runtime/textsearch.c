// SPDX-License-Identifier: MIT OR Apache-2.0
// Searches in text of several blocks: the algorithms that there are, and one of ours.
#include "host.h"
#include <linux/ctype.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/textsearch.h>

/* What the algorithm of ours keeps. */
struct plain {
	unsigned int len;
	u8 bytes[];
};

static struct ts_config *plain_init(const void *pattern, unsigned int len, gfp_t gfp, int flags)
{
	struct ts_config *conf;
	struct plain *plain;

	if (!len)
		return ERR_PTR(-EINVAL);
	conf = alloc_ts_config(sizeof(*plain) + len, gfp);
	if (IS_ERR(conf))
		return conf;
	conf->flags = flags;
	plain = ts_config_priv(conf);
	plain->len = len;
	memcpy(plain->bytes, pattern, len);
	return conf;
}

static bool same(const struct ts_config *conf, u8 a, u8 b)
{
	return a == b || (conf->flags & TS_IGNORECASE && toupper(a) == toupper(b));
}

/* The byte at @at, -1 behind the end. Blocks are asked for by the offset at which they begin. */
static int byte_at(struct ts_config *conf, struct ts_state *state, unsigned int at)
{
	const u8 *block;
	unsigned int len = conf->get_next_block(at, &block, conf, state);

	return len ? block[0] : -1;
}

/* Tries each place; a match may go on in the next block. */
static unsigned int plain_find(struct ts_config *conf, struct ts_state *state)
{
	struct plain *plain = ts_config_priv(conf);
	unsigned int start, i;
	int byte;

	for (start = state->offset;; start++) {
		for (i = 0; i < plain->len; i++) {
			byte = byte_at(conf, state, start + i);
			if (byte < 0)
				return UINT_MAX;
			if (!same(conf, (u8)byte, plain->bytes[i]))
				break;
		}
		if (i == plain->len) {
			state->offset = start + plain->len;
			return start;
		}
	}
}

static void *plain_pattern(struct ts_config *conf) { return ((struct plain *)ts_config_priv(conf))->bytes; }
static unsigned int plain_len(struct ts_config *conf) { return ((struct plain *)ts_config_priv(conf))->len; }

static struct ts_ops plain_ops = {
	.name = "bf",
	.init = plain_init,
	.find = plain_find,
	.get_pattern = plain_pattern,
	.get_pattern_len = plain_len,
};

static LIST_HEAD(algorithms);
static DEFINE_SPINLOCK(algorithms_lock);

static struct ts_ops *named(const char *name)
{
	struct ts_ops *ops;

	list_for_each_entry(ops, &algorithms, list)
		if (!strcmp(ops->name, name))
			return ops;
	return strcmp(name, plain_ops.name) ? NULL : &plain_ops;
}

int textsearch_register(struct ts_ops *ops)
{
	int error = 0;

	if (!ops->name || !ops->init || !ops->get_pattern || !ops->get_pattern_len || !ops->find)
		return -EINVAL;
	spin_lock(&algorithms_lock);
	if (named(ops->name))
		error = -EEXIST;
	else
		list_add_tail(&ops->list, &algorithms);
	spin_unlock(&algorithms_lock);
	return error;
}

int textsearch_unregister(struct ts_ops *ops)
{
	struct ts_ops *other;
	int error = -ENOENT;

	spin_lock(&algorithms_lock);
	list_for_each_entry(other, &algorithms, list)
		if (other == ops) {
			list_del(&ops->list);
			error = 0;
			break;
		}
	spin_unlock(&algorithms_lock);
	return error;
}

struct ts_config *textsearch_prepare(const char *algorithm, const void *pattern, unsigned int len, gfp_t gfp, int flags)
{
	struct ts_config *conf;
	struct ts_ops *ops;

	if (!len)
		return ERR_PTR(-EINVAL);
	spin_lock(&algorithms_lock);
	ops = named(algorithm);
	spin_unlock(&algorithms_lock);
	if (!ops)
		return ERR_PTR(-ENOENT);
	conf = ops->init(pattern, len, gfp, flags);
	if (!IS_ERR(conf))
		conf->ops = ops;
	return conf;
}

void textsearch_destroy(struct ts_config *conf)
{
	if (conf->ops && conf->ops->destroy)
		conf->ops->destroy(conf);
	kfree(conf);
}

/* Text in one piece, in a state's room. */
struct piece {
	const u8 *data;
	unsigned int len;
};

static unsigned int piece_next(unsigned int consumed, const u8 **block, struct ts_config *conf, struct ts_state *state)
{
	const struct piece *piece = (const struct piece *)state->cb;

	if (consumed >= piece->len)
		return 0;
	*block = piece->data + consumed;
	return piece->len - consumed;
}

unsigned int textsearch_find_continuous(struct ts_config *conf, struct ts_state *state, const void *data, unsigned int len)
{
	struct piece *piece = (struct piece *)state->cb;

	conf->get_next_block = piece_next;
	piece->data = data;
	piece->len = len;
	return textsearch_find(conf, state);
}
