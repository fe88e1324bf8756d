// SPDX-License-Identifier: MIT OR Apache-2.0
// Objects whose life is followed: by address, with their state.
#include "host.h"
#include <linux/debugobjects.h>
#include <linux/errno.h>
#include <linux/hashtable.h>
#include <linux/kernel.h>

struct followed {
	struct hlist_node node;
	void *address;
	const struct debug_obj_descr *descr;
	enum debug_obj_state state;
	unsigned int own_state;
};

static DEFINE_HASHTABLE(objects, 10);
static unsigned long count;
static DEFINE_SPINLOCK(lock);

static const char *const names[ODEBUG_STATE_MAX] = {
	[ODEBUG_STATE_NONE] = "none",	[ODEBUG_STATE_INIT] = "initialized", [ODEBUG_STATE_INACTIVE] = "inactive",
	[ODEBUG_STATE_ACTIVE] = "active", [ODEBUG_STATE_DESTROYED] = "destroyed",
	[ODEBUG_STATE_NOTAVAILABLE] = "not available",
};

static struct followed *find(const void *address)
{
	struct followed *f;

	hash_for_each_possible(objects, f, node, (unsigned long)address)
		if (f->address == address)
			return f;
	return NULL;
}

static struct followed *add(void *address, const struct debug_obj_descr *descr)
{
	struct followed *f = kapi_alloc(sizeof(*f));

	if (!f)
		return NULL;
	*f = (struct followed){ .address = address, .descr = descr };
	hash_add(objects, &f->node, (unsigned long)address);
	count++;
	return f;
}

static void drop(struct followed *f)
{
	hash_del(&f->node);
	count--;
	kapi_free(f, sizeof(*f));
}

/* A copy: what is told is told without the lock. */
static struct followed seen(const struct followed *f, void *address, const struct debug_obj_descr *descr)
{
	return f ? *f : (struct followed){ .address = address, .descr = descr, .state = ODEBUG_STATE_NOTAVAILABLE };
}

static void tell(const struct followed *f, const char *what, unsigned long site)
{
	char text[128];
	void *hint = f->descr->debug_hint ? f->descr->debug_hint(f->address) : NULL;

	pr_err("ODEBUG: %s %s (active state %u) object: %p object type: %s hint: %pS\n", what, names[f->state], f->own_state,
	       f->address, f->descr->name, hint);
	kapi_misuse(KAPI_OBJECT, text, (size_t)scnprintf(text, sizeof(text), "%s of a `%s` that is %s", what, f->descr->name,
						  names[f->state]), site);
}

static bool mend(kapi_mended_t (*fn)(void *address, enum debug_obj_state state), const struct followed *f)
{
	return fn && fn(f->address, f->state);
}

/* What a call finds: an object in a state in which it is wrong, or not, in which case the state changes. */
#define CALL(address, descr, change, was) do { \
	unsigned long __flags; \
	spin_lock_irqsave(&lock, __flags); \
	struct followed *f = find(address); \
	was = seen(f, address, descr); \
	change; \
	spin_unlock_irqrestore(&lock, __flags); \
} while (0)

static void init(void *address, const struct debug_obj_descr *descr, unsigned long site)
{
	struct followed was;

	CALL(address, descr, {
		f = f ?: add(address, descr);
		if (f && was.state != ODEBUG_STATE_ACTIVE && was.state != ODEBUG_STATE_DESTROYED)
			f->state = ODEBUG_STATE_INIT;
	}, was);
	if (was.state != ODEBUG_STATE_ACTIVE && was.state != ODEBUG_STATE_DESTROYED)
		return;
	tell(&was, "init", site);
	mend(descr->fixup_init, &was);
}

void debug_object_init(void *address, const struct debug_obj_descr *descr) { init(address, descr, kapi_module_site()); }
void debug_object_init_on_stack(void *address, const struct debug_obj_descr *descr)
{
	init(address, descr, kapi_module_site());
}

/* One that the source initialised is followed from its first use on. */
static bool is_static(void *address, const struct debug_obj_descr *descr)
{
	return descr->is_static_object && descr->is_static_object(address);
}

static void follow_static(void *address, const struct debug_obj_descr *descr)
{
	struct followed was;

	if (!is_static(address, descr))
		return;
	CALL(address, descr, {
		f = f ?: add(address, descr);
		if (f && was.state == ODEBUG_STATE_NOTAVAILABLE)
			f->state = ODEBUG_STATE_INIT;
	}, was);
}

static bool is_known(const void *address)
{
	return UNDER_LOCK(&lock, find(address) != NULL);
}

int debug_object_activate(void *address, const struct debug_obj_descr *descr)
{
	unsigned long site = kapi_module_site();
	struct followed was;

	if (!is_known(address))
		follow_static(address, descr);
	CALL(address, descr, {
		if (was.state == ODEBUG_STATE_INIT || was.state == ODEBUG_STATE_INACTIVE)
			f->state = ODEBUG_STATE_ACTIVE;
	}, was);
	if (was.state == ODEBUG_STATE_INIT || was.state == ODEBUG_STATE_INACTIVE || was.state == ODEBUG_STATE_NONE)
		return 0;
	tell(&was, "activate", site);
	return was.state != ODEBUG_STATE_DESTROYED && mend(descr->fixup_activate, &was) ? 0 : -EINVAL;
}

void debug_object_deactivate(void *address, const struct debug_obj_descr *descr)
{
	unsigned long site = kapi_module_site();
	struct followed was;
	bool good = false;

	CALL(address, descr, {
		good = f && was.state != ODEBUG_STATE_DESTROYED && !was.own_state;
		if (good && was.state != ODEBUG_STATE_NONE)
			f->state = ODEBUG_STATE_INACTIVE;
	}, was);
	if (!good)
		tell(&was, "deactivate", site);
}

void debug_object_destroy(void *address, const struct debug_obj_descr *descr)
{
	unsigned long site = kapi_module_site();
	struct followed was;

	CALL(address, descr, {
		if (f && was.state != ODEBUG_STATE_ACTIVE)
			f->state = ODEBUG_STATE_DESTROYED;
	}, was);
	if (was.state != ODEBUG_STATE_ACTIVE && was.state != ODEBUG_STATE_DESTROYED)
		return;
	tell(&was, "destroy", site);
	if (was.state == ODEBUG_STATE_ACTIVE)
		mend(descr->fixup_destroy, &was);
}

static void forget(void *address, const struct debug_obj_descr *descr, unsigned long site)
{
	struct followed was;

	CALL(address, descr, {
		if (f)
			drop(f);
	}, was);
	if (was.state != ODEBUG_STATE_ACTIVE)
		return;
	tell(&was, "free", site);
	mend(was.descr->fixup_free, &was);
}

void debug_object_free(void *address, const struct debug_obj_descr *descr) { forget(address, descr, kapi_module_site()); }

void debug_object_assert_init(void *address, const struct debug_obj_descr *descr)
{
	unsigned long site = kapi_module_site();
	struct followed was;

	if (!is_known(address))
		follow_static(address, descr);
	CALL(address, descr, { }, was);
	if (was.state != ODEBUG_STATE_NOTAVAILABLE)
		return;
	tell(&was, "assert_init", site);
	mend(descr->fixup_assert_init, &was);
}

void debug_object_active_state(void *address, const struct debug_obj_descr *descr, unsigned int expect, unsigned int next)
{
	unsigned long site = kapi_module_site();
	struct followed was;
	bool good = false;

	CALL(address, descr, {
		good = was.state == ODEBUG_STATE_ACTIVE && was.own_state == expect;
		if (good)
			f->own_state = next;
	}, was);
	if (!good)
		tell(&was, "active_state", site);
}

static struct followed *first_in(unsigned long start, unsigned long bytes)
{
	struct followed *f;
	int bucket;

	hash_for_each(objects, bucket, f, node)
		if ((unsigned long)f->address - start < bytes)
			return f;
	return NULL;
}

/* The memory goes: so do the objects in it, which may not be in use. */
void kapi_forget_objects(unsigned long start, unsigned long bytes, unsigned long site)
{
	struct followed *f;

	while (READ_ONCE(count) && (f = UNDER_LOCK(&lock, first_in(start, bytes))))
		forget(f->address, f->descr, site);
}

void debug_check_no_obj_freed(const void *address, unsigned long size)
{
	kapi_forget_objects((unsigned long)address, size, kapi_module_site());
}
