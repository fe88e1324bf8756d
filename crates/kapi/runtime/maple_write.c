// SPDX-License-Identifier: MIT OR Apache-2.0
// Changes of the maple tree: one range gets one entry, whatever was there.
//
// How it works: the change has a way to the leaf of its first index and one to the leaf of its last. From the leaf up,
// what lies left of the first way, what is new, and what lies right of the second become the content of one to three
// nodes. Where that is one node in the place of one, it takes its place, and nothing above changes but gaps. All that is
// counted first, so that the nodes can be allocated before anything is made.
#include "maple.h"

/* Ranges or children that one level can have while it is changed: two nodes without a slot each, and three new ones. */
#define PIECES_MAX (3 * MAPLE_SLOTS_MAX)

/* A range or a child, by its last index. */
struct piece {
	unsigned long last;
	void *slot;
	unsigned long gap;
};

struct pieces {
	unsigned long first;
	unsigned int count;
	struct piece at[PIECES_MAX];
};

/* A node on a way, from the root at 0 down. */
struct step {
	struct tree_node *node;
	unsigned int at;
	unsigned long min, max;
};

/* A neighbour whose content is shared out with the node's. */
enum pull {
	PULL_NONE,
	PULL_LEFT,
	PULL_RIGHT
};

struct level {
	struct step left, right;
	/* Of the new content: pieces, with those of the neighbour, nodes, and whether the neighbour is to be nearly full. */
	unsigned int total;
	unsigned int nodes;
	enum pull pull;
	bool fills;
};

struct change {
	struct ma_state *mas;
	struct maple_tree *mt;
	unsigned long first, last;
	void *entry;
	bool rcu;
	unsigned int height;
	/* The level whose node takes the place of one; -1: there is a new root above. */
	int top;
	struct level level[MAPLE_HEIGHT_MAX + 1];
	/* What an empty tree, or one with an entry at 0, would be as a leaf. */
	struct tree_node seed;
};

/* Fewer are joined with a neighbour's. */
static unsigned int few(enum maple_kind kind)
{
	return kind == MAPLE_GAPS ? MAPLE_ARANGE64_SLOTS / 2 - 2 : MAPLE_RANGE64_SLOTS / 2 - 2;
}

static bool is_seed(const struct change *c) { return c->level[0].left.node == &c->seed; }

static void descend(struct change *c, bool right, unsigned long index)
{
	struct tree_node *node = c->level[0].left.node;
	unsigned long min = 0, max = ULONG_MAX;
	unsigned int depth;

	for (depth = 0;; depth++) {
		unsigned int at = slot_of(node, index);
		struct step *step = right ? &c->level[depth].right : &c->level[depth].left;

		*step = (struct step) { node, at, min, max };
		if (node->kind == MAPLE_LEAF)
			break;
		max = slot_last(node, at, max);
		min = slot_first(node, at, min);
		node = slots_of(node)[at];
	}
	c->height = depth + 1;
}

/* Ranges of NULL do not lie side by side: one that is stored takes those at its sides along. */
static void widen(struct change *c)
{
	MA_STATE(mas, c->mt, 0, 0);

	if (!kapi_mas_seek(&mas, c->first) || (mas.index == c->first && c->first && !kapi_mas_seek(&mas, c->first - 1)))
		c->first = mas.index;
	if (!kapi_mas_seek(&mas, c->last) ||
	    (mas.last == c->last && c->last != ULONG_MAX && !kapi_mas_seek(&mas, c->last + 1)))
		c->last = mas.last;
}

/* Finds both ways. */
static void begin(struct change *c, struct ma_state *mas, void *entry)
{
	void *root = mas->tree->ma_root;

	c->mas = mas;
	c->mt = mas->tree;
	c->first = mas->index;
	c->last = mas->last;
	c->entry = entry;
	c->rcu = mt_in_rcu(mas->tree);
	c->level[0].left.node = root_is_node(root) ? root_node(root) : &c->seed;
	if (is_seed(c)) {
		c->seed.kind = MAPLE_LEAF;
		c->seed.count = root ? 2 : 1;
		c->seed.wide.last[0] = 0;
		c->seed.wide.slot[0] = root;
		c->seed.wide.slot[1] = NULL;
	}
	if (!entry)
		widen(c);
	descend(c, false, c->first);
	descend(c, true, c->last);
}

static struct step *leaf_step(struct change *c, bool right)
{
	struct level *level = &c->level[c->height - 1];

	return right ? &level->right : &level->left;
}

static unsigned long step_first(const struct step *step) { return slot_first(step->node, step->at, step->min); }
static unsigned long step_last(const struct step *step) { return slot_last(step->node, step->at, step->max); }

/* The range is there, with another entry or with this one. */
static bool fits(struct change *c)
{
	const struct step *left = leaf_step(c, false), *right = leaf_step(c, true);

	return left->node == right->node && left->at == right->at && step_first(left) == c->first &&
	       step_last(right) == c->last && !is_seed(c);
}

/* The neighbour that shares its content with the node, in a level below the root. */
static struct tree_node *neighbour(struct change *c, unsigned int depth, enum pull pull)
{
	struct step *left = &c->level[depth - 1].left, *right = &c->level[depth - 1].right;

	if (pull == PULL_LEFT)
		return left->at ? slots_of(left->node)[left->at - 1] : NULL;
	return right->at + 1U < right->node->count ? slots_of(right->node)[right->at + 1] : NULL;
}

static bool pull(struct change *c, unsigned int depth, enum pull side, unsigned int room)
{
	struct level *level = &c->level[depth];
	struct tree_node *other = neighbour(c, depth, side);

	if (!other || level->total + other->count > room)
		return false;
	level->pull = side;
	level->total += other->count;
	return true;
}

/*
 * Shares a level's pieces out. Of too many for one node a neighbour with room takes what it can, so that nodes are nearly
 * full where indices grow; few are joined with a neighbour's.
 */
static void share(struct change *c, unsigned int depth)
{
	struct level *level = &c->level[depth];
	enum maple_kind kind = level->left.node->kind;
	unsigned int slots = capacity_of(kind);

	level->pull = PULL_NONE;
	level->fills = false;
	if (depth && level->total > slots && level->left.node == level->right.node)
		level->fills = pull(c, depth, PULL_LEFT, 2 * slots - 2) || pull(c, depth, PULL_RIGHT, 2 * slots - 2);
	else if (depth && level->total < few(kind))
		(void)(pull(c, depth, PULL_RIGHT, UINT_MAX) || pull(c, depth, PULL_LEFT, UINT_MAX));
	level->nodes = DIV_ROUND_UP(level->total, slots);
}

/* A tree without a node gets none for nothing, or for an entry at 0. */
static bool stays_in_root(const struct change *c) { return !c->entry || (!c->last && !xa_is_internal(c->entry)); }

/* Counts pieces and nodes of each level. Return: nodes that are to be allocated. */
static unsigned int plan(struct change *c)
{
	struct step *left = leaf_step(c, false), *right = leaf_step(c, true);
	unsigned int depth = c->height - 1, wanted = 0;

	c->level[depth].total = left->at + (step_first(left) < c->first) + 1 + (step_last(right) > c->last) +
				(right->node->count - 1 - right->at);
	for (;; depth--) {
		struct level *level = &c->level[depth], *above;

		share(c, depth);
		if (level->nodes == 1 && level->pull == PULL_NONE && level->left.node == level->right.node) {
			c->top = depth;
			if (is_seed(c))
				return !stays_in_root(c);
			return wanted + c->rcu;
		}
		wanted += level->nodes;
		if (!depth) {
			c->top = -1;
			return wanted + 1;
		}
		above = level - 1;
		above->total = above->left.at - (level->pull == PULL_LEFT) + level->nodes +
			       (above->right.node->count - 1 - above->right.at) - (level->pull == PULL_RIGHT);
	}
}

static void add(struct pieces *to, unsigned long last, void *slot, unsigned long gap)
{
	to->at[to->count++] = (struct piece) { last, slot, gap };
}

/* Adds slots of a node that ends at @max. */
static void add_slots(struct pieces *to, struct tree_node *node, unsigned long max, unsigned int from, unsigned int until)
{
	for (; from < until; from++)
		add(to, slot_last(node, from, max), slots_of(node)[from], node->kind == MAPLE_GAPS ? node->gaps.gap[from] : 0);
}

/* The content of a level: of @made, the nodes of the level below, or, in leaves, the entry. */
static void gather(struct change *c, unsigned int depth, const struct pieces *made, struct pieces *to)
{
	struct level *level = &c->level[depth];
	struct step *left = &level->left, *right = &level->right;
	bool is_leaf = left->node->kind == MAPLE_LEAF;
	enum pull below = is_leaf ? PULL_NONE : level[1].pull;
	unsigned int i;

	to->count = 0;
	to->first = left->min;
	if (level->pull == PULL_LEFT) {
		struct tree_node *other = neighbour(c, depth, PULL_LEFT);
		struct step *above = &level[-1].left;

		to->first = slot_first(above->node, above->at - 1, above->min);
		add_slots(to, other, left->min - 1, 0, other->count);
	}
	add_slots(to, left->node, left->max, 0, left->at - (below == PULL_LEFT));
	if (is_leaf) {
		if (step_first(left) < c->first)
			add(to, c->first - 1, slots_of(left->node)[left->at], 0);
		add(to, c->last, c->entry, 0);
		if (step_last(right) > c->last)
			add(to, step_last(right), slots_of(right->node)[right->at], 0);
	} else {
		for (i = 0; i < made->count; i++)
			to->at[to->count++] = made->at[i];
	}
	add_slots(to, right->node, right->max, right->at + 1 + (below == PULL_RIGHT), right->node->count);
	if (level->pull == PULL_RIGHT) {
		struct tree_node *other = neighbour(c, depth, PULL_RIGHT);
		struct step *above = &level[-1].right;

		add_slots(to, other, slot_last(above->node, above->at + 1, above->max), 0, other->count);
	}
}

/* The largest gap of a node's pieces. */
static unsigned long gap_of(const struct piece *piece, unsigned int count, unsigned long first, enum maple_kind kind)
{
	unsigned long gap = 0;

	for (; count; count--, first = piece++->last + 1) {
		if (kind == MAPLE_LEAF)
			gap = piece->slot ? gap : max(gap, piece->last - first + 1);
		else
			gap = max(gap, piece->gap);
	}
	return gap;
}

/* Writes pieces into a node, and how large its largest gap is to @gap. */
static void fill(struct tree_node *node, enum maple_kind kind, const struct pieces *from, unsigned int start,
		 unsigned int count, unsigned long *gap)
{
	unsigned long first = start ? from->at[start - 1].last + 1 : from->first;
	unsigned int i;

	node->kind = kind;
	node->count = count;
	node->dead = 0;
	for (i = 0; i < count; i++) {
		const struct piece *piece = &from->at[start + i];

		if (i + 1 < count)
			node->wide.last[i] = piece->last;
		slots_of(node)[i] = piece->slot;
		if (kind == MAPLE_GAPS)
			node->gaps.gap[i] = piece->gap;
	}
	*gap = gap_of(&from->at[start], count, first, kind);
}

/* How many of the pieces go to the next of @nodes nodes. A leaf had better not end in a gap: what fills it is at one place. */
static unsigned int part(const struct level *level, enum maple_kind kind, const struct pieces *from, unsigned int start,
			 unsigned int nodes)
{
	unsigned int left = from->count - start, slots = capacity_of(kind), count = DIV_ROUND_UP(left, nodes);

	if (nodes == 1)
		return left;
	if (level->fills)
		count = level->pull == PULL_LEFT ? slots - 1 : left - (slots - 1);
	if (kind == MAPLE_LEAF && !from->at[start + count - 1].slot) {
		if (count < slots && left - count > 1)
			count++;
		else if (count > 1 && left - count < (nodes - 1) * slots)
			count--;
	}
	return count;
}

/* Makes a level's nodes. */
static void make(struct change *c, unsigned int depth, const struct pieces *from, struct pieces *made)
{
	struct level *level = &c->level[depth];
	enum maple_kind kind = level->left.node->kind;
	unsigned int start = 0, nodes;

	made->count = 0;
	made->first = from->first;
	for (nodes = level->nodes; nodes; nodes--) {
		unsigned int count = part(level, kind, from, start, nodes);
		struct tree_node *node = kapi_mas_take(c->mas);
		unsigned long gap;

		fill(node, kind, from, start, count, &gap);
		start += count;
		add(made, from->at[start - 1].last, node, gap);
	}
}

/* A node that is out of the tree. Of a state with a reserve it goes there. */
static void drop(struct change *c, struct tree_node *node)
{
	if (c->mas->mas_flags && !c->rcu)
		kapi_mas_give(c->mas, node);
	else
		kapi_maple_free(node, c->rcu);
}

/* Frees what the new nodes replace, below the top, and the top itself if it is not written in place. */
static void retire(struct change *c, bool with_top)
{
	unsigned int depth = c->top > 0 ? c->top : 0, i;

	for (; depth < c->height; depth++) {
		struct level *level = &c->level[depth];
		struct step *left = &level->left, *right = &level->right;
		bool same = left->node == right->node, is_leaf = left->node->kind == MAPLE_LEAF;

		for (i = left->at + 1; !is_leaf && i < (same ? right->at : left->node->count); i++)
			kapi_maple_free_all(slots_of(left->node)[i], c->rcu);
		for (i = 0; !is_leaf && !same && i < right->at; i++)
			kapi_maple_free_all(slots_of(right->node)[i], c->rcu);
	}
	/* From the leaf up, since the nodes above say which neighbours there were. */
	for (depth = c->height - 1; (int)depth > c->top; depth--) {
		struct level *level = &c->level[depth];

		if (level->pull != PULL_NONE)
			drop(c, neighbour(c, depth, level->pull));
		if (level->right.node != level->left.node)
			drop(c, level->right.node);
		if (level->left.node != &c->seed)
			drop(c, level->left.node);
		if (!depth)
			return;
	}
	if (with_top && !is_seed(c))
		drop(c, c->level[c->top].left.node);
}

/* Tells the nodes above @depth how large the largest gap below them is. */
static void tell_gap(struct change *c, int depth, unsigned long gap)
{
	for (; depth >= 0; depth--) {
		struct step *step = &c->level[depth].left;
		struct tree_node *node = step->node;
		unsigned int i;

		if (node->kind != MAPLE_GAPS || node->gaps.gap[step->at] == gap)
			return;
		WRITE_ONCE(node->gaps.gap[step->at], gap);
		for (gap = 0, i = 0; i < node->count; i++)
			gap = max(gap, node->gaps.gap[i]);
	}
}

static void set_root(struct change *c, void *root, unsigned int height)
{
	rcu_assign_pointer(c->mt->ma_root, root);
	c->mt->ma_flags = (c->mt->ma_flags & ~MT_FLAGS_HEIGHT_MASK) | (height << MT_FLAGS_HEIGHT_OFFSET);
}

/* Nothing, or an entry at 0 alone: what stands in the root without a node. */
static bool fits_in_root(unsigned int count, unsigned long last, void *first, void *second)
{
	return count == 1 ? !first : count == 2 && !last && !second && !xa_is_internal(first);
}

/* Takes the root for what the whole tree is, if that needs no node of its own: little, or all below the only child. */
static bool shrink(struct change *c, const struct pieces *all)
{
	struct tree_node *child = all->at[0].slot, *only;
	unsigned int height = c->height - 1;
	void *root;

	if (c->level[0].left.node->kind == MAPLE_LEAF) {
		if (!fits_in_root(all->count, all->at[0].last, child, all->at[1].slot))
			return false;
		set_root(c, child, 0);
		return true;
	}
	if (all->count != 1)
		return false;
	while (child->kind != MAPLE_LEAF && child->count == 1) {
		only = slots_of(child)[0];
		drop(c, child);
		child = only;
		height--;
	}
	root = root_of(child);
	if (child->kind == MAPLE_LEAF &&
	    fits_in_root(child->count, child->wide.last[0], child->wide.slot[0], child->wide.slot[1])) {
		root = child->wide.slot[0];
		height = 0;
	}
	set_root(c, root, height);
	if (!height)
		drop(c, child);
	return true;
}

/* Puts the top's content into the tree. */
static void publish(struct change *c, const struct pieces *all)
{
	struct step *step = &c->level[c->top].left;
	bool anew = c->rcu || is_seed(c);
	struct tree_node *node = step->node;
	enum maple_kind kind = node->kind;
	unsigned long gap;

	if (!c->top && shrink(c, all)) {
		retire(c, true);
		return;
	}
	if (anew)
		node = kapi_mas_take(c->mas);
	else
		retire(c, false);
	fill(node, kind, all, 0, all->count, &gap);
	if (anew && c->top)
		rcu_assign_pointer(slots_of(c->level[c->top - 1].left.node)[c->level[c->top - 1].left.at], (void *)node);
	else if (!c->top)
		set_root(c, root_of(node), c->height);
	tell_gap(c, c->top - 1, gap);
	if (anew)
		retire(c, true);
}

/* A level above what was the root. */
static void grow(struct change *c, const struct pieces *made)
{
	struct tree_node *node = kapi_mas_take(c->mas);
	unsigned long gap;

	fill(node, c->mt->ma_flags & MT_FLAGS_ALLOC_RANGE ? MAPLE_GAPS : MAPLE_INNER, made, 0, made->count, &gap);
	set_root(c, root_of(node), c->height + 1);
	retire(c, false);
}

/* One store of one slot. */
static void replace(struct change *c)
{
	struct step *step = leaf_step(c, false);
	struct tree_node *leaf = step->node;
	bool gap_changes = !c->entry != !slots_of(leaf)[step->at];
	unsigned long gap = 0;
	unsigned int i;

	rcu_assign_pointer(slots_of(leaf)[step->at], c->entry);
	if (!gap_changes)
		return;
	for (i = 0; i < leaf->count; i++)
		if (!slots_of(leaf)[i])
			gap = max(gap, slot_last(leaf, i, step->max) - slot_first(leaf, i, step->min) + 1);
	tell_gap(c, (int)c->height - 2, gap);
}

static void carry_out(struct change *c)
{
	struct pieces a, b;
	unsigned int depth;

	for (depth = c->height - 1;; depth--) {
		gather(c, depth, &b, &a);
		if ((int)depth == c->top) {
			publish(c, &a);
			return;
		}
		make(c, depth, &a, &b);
		if (!depth) {
			grow(c, &b);
			return;
		}
	}
}

/* Nothing is there that a store of NULL would change. */
static bool is_nothing(struct change *c)
{
	struct step *step = leaf_step(c, false);

	return !c->entry && !slots_of(step->node)[step->at] && step_last(step) == c->last;
}

int kapi_mas_wants(struct ma_state *mas, void *entry)
{
	struct change c;

	begin(&c, mas, entry);
	return is_nothing(&c) || (fits(&c) && (entry || c.height > 1)) ? 0 : plan(&c);
}

int kapi_mas_write(struct ma_state *mas, void *entry)
{
	struct change c;
	unsigned int wanted;

	begin(&c, mas, entry);
	if (!is_nothing(&c)) {
		/* A root that becomes empty goes. */
		if (fits(&c) && (entry || c.height > 1)) {
			replace(&c);
		} else {
			wanted = plan(&c);
			mas->node_request = wanted;
			if (kapi_mas_reserve(mas, wanted, GFP_NOWAIT | __GFP_NOWARN))
				return -ENOMEM;
			carry_out(&c);
		}
	}
	mas->index = c.first;
	mas->last = c.last;
	stand(mas, ma_active, NULL);
	return 0;
}
