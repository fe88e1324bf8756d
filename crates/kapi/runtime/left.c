// SPDX-License-Identifier: MIT OR Apache-2.0
// What stands for the module outside of it: files, devices, threads, work queues, interrupts, notifier blocks. All of
// it has to be gone when the module is.
//
// How it works: who registers something enters it here, by its address, and takes it out again. What is left at the
// end is told with the call that registered it.
#include "host.h"
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/string.h>

struct standing {
	struct list_head list;
	const void *what;
	const char *kind;
	char name[64];
	unsigned long site;
};

static LIST_HEAD(all);
static DEFINE_SPINLOCK(lock);

void kapi_stands(const void *what, const char *kind, const char *name)
{
	struct standing *s = kapi_alloc(sizeof(*s));
	unsigned long flags;

	if (!s)
		return;
	*s = (struct standing){ .what = what, .kind = kind, .site = kapi_module_site() };
	strscpy(s->name, name, sizeof(s->name));
	spin_lock_irqsave(&lock, flags);
	list_add_tail(&s->list, &all);
	spin_unlock_irqrestore(&lock, flags);
}

static struct standing *find(const void *what)
{
	struct standing *s;

	list_for_each_entry(s, &all, list)
		if (s->what == what)
			return s;
	return NULL;
}

void kapi_gone(const void *what)
{
	struct standing *s;
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	s = find(what);
	if (s)
		list_del(&s->list);
	spin_unlock_irqrestore(&lock, flags);
	kapi_free(s, sizeof(*s));
}

/* Whether something of a kind stands. */
bool kapi_any_stands(const char *kind)
{
	struct standing *s;
	unsigned long flags;
	bool any = false;

	spin_lock_irqsave(&lock, flags);
	list_for_each_entry(s, &all, list)
		any |= s->kind == kind;
	spin_unlock_irqrestore(&lock, flags);
	return any;
}

void kapi_tell_left(const char *kind, const char *name, unsigned long site)
{
	char text[128];

	kapi_misuse(KAPI_LEFT, text, (size_t)scnprintf(text, sizeof(text), "%s `%s` is still there", kind, name), site);
}

void kapi_tell_standing(void)
{
	struct standing *s;

	list_for_each_entry(s, &all, list)
		kapi_tell_left(s->kind, s->name, s->site);
}
