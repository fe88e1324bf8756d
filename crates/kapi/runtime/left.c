// SPDX-License-Identifier: MIT OR Apache-2.0
// What stands for the module outside of it: files, devices, threads, work queues, interrupts, notifier blocks. All of
// it has to be gone when the module is.
//
// How it works: who registers something enters it here, by its address, and takes it out again. What is left at the
// end is told with the call that registered it.
#include "host.h"
#include <linux/hashtable.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/reboot.h>
#include <linux/spinlock.h>
#include <linux/string.h>

struct standing {
	struct list_head list;
	struct hlist_node node;
	const void *what;
	const char *kind;
	char name[64];
	unsigned long site;
};

static LIST_HEAD(all);
static DEFINE_HASHTABLE(table, 8);
static DEFINE_SPINLOCK(lock);

void kapi_stands_at(const void *what, const char *kind, const char *name, unsigned long site)
{
	struct standing *s = kapi_alloc(sizeof(*s));
	unsigned long flags;

	if (!s)
		return;
	*s = (struct standing){ .what = what, .kind = kind, .site = site };
	strscpy(s->name, name, sizeof(s->name));
	spin_lock_irqsave(&lock, flags);
	list_add_tail(&s->list, &all);
	hash_add(table, &s->node, (unsigned long)what);
	spin_unlock_irqrestore(&lock, flags);
}

void kapi_stands(const void *what, const char *kind, const char *name)
{
	kapi_stands_at(what, kind, name, kapi_module_site());
}

/* Something that has no name but that of its function. */
void kapi_stands_by(const void *what, const char *kind, const void *fn)
{
	char name[64];

	scnprintf(name, sizeof(name), "%ps", fn);
	kapi_stands_at(what, kind, name, kapi_module_site());
}

static struct standing *find(const void *what)
{
	struct standing *s;

	hash_for_each_possible(table, s, node, (unsigned long)what)
		if (s->what == what)
			return s;
	return NULL;
}

static void drop(struct standing *s)
{
	list_del(&s->list);
	hash_del(&s->node);
}

void kapi_gone(const void *what)
{
	struct standing *s;
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	s = find(what);
	if (s)
		drop(s);
	spin_unlock_irqrestore(&lock, flags);
	kapi_free(s, sizeof(*s));
}

int register_reboot_notifier(struct notifier_block *nb)
{
	might_sleep();
	kapi_stands_by(nb, "the notifier block", (const void *)nb->notifier_call);
	return 0;
}

int unregister_reboot_notifier(struct notifier_block *nb)
{
	might_sleep();
	kapi_gone(nb);
	return 0;
}

/* What lies in memory that is freed at @site stands there no more. */
void kapi_forget_standing(unsigned long start, unsigned long bytes, unsigned long site)
{
	struct standing *s, *next;
	unsigned long flags;
	LIST_HEAD(found);
	char text[128];

	if (list_empty(&all))
		return;
	spin_lock_irqsave(&lock, flags);
	list_for_each_entry_safe(s, next, &all, list)
		if ((unsigned long)s->what - start < bytes) {
			drop(s);
			list_add_tail(&s->list, &found);
		}
	spin_unlock_irqrestore(&lock, flags);
	list_for_each_entry_safe(s, next, &found, list) {
		kapi_misuse(KAPI_LEFT, text,
			    (size_t)scnprintf(text, sizeof(text), "%s `%s` is registered in memory that is freed", s->kind,
					      s->name), site);
		kapi_free(s, sizeof(*s));
	}
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

/* Tells those of a kind, or all, once. */
static void tell_kind(const char *kind)
{
	struct standing *s, *next;

	list_for_each_entry_safe(s, next, &all, list)
		if (!kind || s->kind == kind) {
			kapi_tell_left(s->kind, s->name, s->site);
			drop(s);
			kapi_free(s, sizeof(*s));
		}
}

void kapi_tell_standing(void) { tell_kind(NULL); }

/* When exit has returned: what is called then finds no module any more. */
void kapi_tell_callbacks(void) { tell_kind(KAPI_CALLBACK); }
