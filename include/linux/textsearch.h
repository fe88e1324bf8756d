/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Searches for a pattern in text that lies in several blocks: algorithms register themselves by name, and a search asks for
 * one. Here no algorithm is loaded on demand: a module that wants one brings it along, or uses "bf", which is here.
 *
 * Linux counterpart: include/linux/textsearch.h @ 6.12.
 */
#ifndef _LINUX_TEXTSEARCH_H
#define _LINUX_TEXTSEARCH_H

#include <linux/err.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/types.h>

#define TS_AUTOLOAD 1
#define TS_IGNORECASE 2
#define TS_PRIV_ALIGNTO 8
#define TS_PRIV_ALIGN(len) (((len) + TS_PRIV_ALIGNTO - 1) & ~(TS_PRIV_ALIGNTO - 1))

struct ts_config;

/* Where a search stands: the offset behind the last match, and room for who hands out the blocks. */
struct ts_state {
	unsigned int offset;
	char cb[48];
};

struct ts_ops {
	const char *name;
	struct ts_config *(*init)(const void *pattern, unsigned int len, gfp_t gfp, int flags);
	unsigned int (*find)(struct ts_config *conf, struct ts_state *state);
	void (*destroy)(struct ts_config *conf);
	void *(*get_pattern)(struct ts_config *conf);
	unsigned int (*get_pattern_len)(struct ts_config *conf);
	struct module *owner;
	struct list_head list;
};

/* A pattern that is ready to be searched for; what the algorithm keeps of it lies behind. */
struct ts_config {
	struct ts_ops *ops;
	int flags;
	/* Return: the length of the block at @consumed, 0 at the end. */
	unsigned int (*get_next_block)(unsigned int consumed, const u8 **block, struct ts_config *conf,
				       struct ts_state *state);
	void (*finish)(struct ts_config *conf, struct ts_state *state);
};

extern int textsearch_register(struct ts_ops *ops);
extern int textsearch_unregister(struct ts_ops *ops);
extern struct ts_config *textsearch_prepare(const char *algorithm, const void *pattern, unsigned int len, gfp_t gfp,
					    int flags);
extern void textsearch_destroy(struct ts_config *conf);
/* Return: where the first match is, UINT_MAX for none. */
extern unsigned int textsearch_find_continuous(struct ts_config *conf, struct ts_state *state, const void *data,
					       unsigned int len);

/* Return: where the next match is. */
static inline unsigned int textsearch_next(struct ts_config *conf, struct ts_state *state)
{
	unsigned int at = conf->ops->find(conf, state);

	if (conf->finish)
		conf->finish(conf, state);
	return at;
}

static inline unsigned int textsearch_find(struct ts_config *conf, struct ts_state *state)
{
	state->offset = 0;
	return textsearch_next(conf, state);
}

static inline void *textsearch_get_pattern(struct ts_config *conf) { return conf->ops->get_pattern(conf); }
static inline unsigned int textsearch_get_pattern_len(struct ts_config *conf) { return conf->ops->get_pattern_len(conf); }

static inline void *ts_config_priv(struct ts_config *conf) { return (u8 *)conf + TS_PRIV_ALIGN(sizeof(*conf)); }

static inline struct ts_config *alloc_ts_config(size_t payload, gfp_t gfp)
{
	struct ts_config *conf = kzalloc(TS_PRIV_ALIGN(sizeof(*conf)) + payload, gfp);

	return conf ? conf : ERR_PTR(-ENOMEM);
}

#endif
