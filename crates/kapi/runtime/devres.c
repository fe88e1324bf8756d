// SPDX-License-Identifier: MIT OR Apache-2.0
// What goes with a device: a list of records, freed the last first.
#include "host.h"
#include <linux/device.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/slab.h>

/* In front of what the caller sees. A group is two records without data, of which the second may be missing. */
struct record {
	struct list_head entry;
	dr_release_t release;
	const char *name;
	size_t size;
	char data[] __attribute__((__aligned__(ARCH_KMALLOC_MINALIGN)));
};

struct group {
	struct record open, close;
	void *id;
	bool closed;
};

static void at_open(struct device *dev, void *res) { }
static void at_close(struct device *dev, void *res) { }

static struct record *record_of(const void *res) { return container_of(res, struct record, data); }

static struct record *new_record(dr_release_t release, size_t size, gfp_t gfp, const char *name, unsigned long site)
{
	struct record *record;
	size_t bytes;

	if (check_add_overflow(sizeof(*record), size, &bytes))
		return NULL;
	record = kapi_kmalloc_for(bytes, gfp, site);
	if (!record)
		return NULL;
	INIT_LIST_HEAD(&record->entry);
	record->release = release;
	record->name = name;
	record->size = size;
	return record;
}

static void link_record(struct device *dev, struct record *record)
{
	unsigned long flags;

	spin_lock_irqsave(&dev->devres_lock, flags);
	list_add_tail(&record->entry, &dev->devres_head);
	spin_unlock_irqrestore(&dev->devres_lock, flags);
}

void *__devres_alloc_node(dr_release_t release, size_t size, gfp_t gfp, int node, const char *name)
{
	struct record *record = new_record(release, size, gfp | __GFP_ZERO, name, _RET_IP_);

	return record ? record->data : NULL;
}

void devres_free(void *res)
{
	if (!res)
		return;
	BUG_ON(!list_empty(&record_of(res)->entry));
	kapi_kfree_for(record_of(res), _RET_IP_);
}

void devres_add(struct device *dev, void *res) { link_record(dev, record_of(res)); }

/* Under the lock: the youngest that fits. */
static struct record *find(struct device *dev, dr_release_t release, dr_match_t match, void *match_data)
{
	struct record *record;

	list_for_each_entry_reverse(record, &dev->devres_head, entry)
		if (record->release == release && (!match || match(dev, record->data, match_data)))
			return record;
	return NULL;
}

void *devres_find(struct device *dev, dr_release_t release, dr_match_t match, void *match_data)
{
	struct record *record = UNDER_LOCK(&dev->devres_lock, find(dev, release, match, match_data));

	return record ? record->data : NULL;
}

void *devres_get(struct device *dev, void *new_res, dr_match_t match, void *match_data)
{
	void *there = devres_find(dev, record_of(new_res)->release, match, match_data);

	if (!there) {
		devres_add(dev, new_res);
		return new_res;
	}
	devres_free(new_res);
	return there;
}

void *devres_remove(struct device *dev, dr_release_t release, dr_match_t match, void *match_data)
{
	struct record *record;
	unsigned long flags;

	spin_lock_irqsave(&dev->devres_lock, flags);
	record = find(dev, release, match, match_data);
	if (record)
		list_del_init(&record->entry);
	spin_unlock_irqrestore(&dev->devres_lock, flags);
	return record ? record->data : NULL;
}

int devres_destroy(struct device *dev, dr_release_t release, dr_match_t match, void *match_data)
{
	void *res = devres_remove(dev, release, match, match_data);

	devres_free(res);
	return res ? 0 : -ENOENT;
}

int devres_release(struct device *dev, dr_release_t release, dr_match_t match, void *match_data)
{
	void *res = devres_remove(dev, release, match, match_data);

	if (!res)
		return -ENOENT;
	release(dev, res);
	devres_free(res);
	return 0;
}

/* Releases what is on a list, the last first. A group's two records are one block. */
static int release_list(struct device *dev, struct list_head *list)
{
	struct record *record, *next;
	int count = 0;

	list_for_each_entry_safe_reverse(record, next, list, entry) {
		list_del_init(&record->entry);
		if (record->release == at_close)
			continue;
		if (record->release != at_open) {
			record->release(dev, record->data);
			count++;
		}
		kfree(record);
	}
	return count;
}

int devres_release_all(struct device *dev)
{
	unsigned long flags;
	LIST_HEAD(list);

	/* One that was never initialized has none. */
	if (WARN_ON(!dev->devres_head.next))
		return -ENODEV;
	spin_lock_irqsave(&dev->devres_lock, flags);
	list_splice_init(&dev->devres_head, &list);
	spin_unlock_irqrestore(&dev->devres_lock, flags);
	return release_list(dev, &list);
}

void *devres_open_group(struct device *dev, void *id, gfp_t gfp)
{
	struct group *group = kapi_kmalloc_for(sizeof(*group), gfp | __GFP_ZERO, _RET_IP_);

	if (!group)
		return NULL;
	group->open.release = at_open;
	group->close.release = at_close;
	INIT_LIST_HEAD(&group->close.entry);
	group->id = id ?: group;
	link_record(dev, &group->open);
	return group->id;
}

/* Under the lock: the group of an id, without one the youngest that is open. */
static struct group *find_group(struct device *dev, void *id)
{
	struct record *record;

	list_for_each_entry_reverse(record, &dev->devres_head, entry) {
		struct group *group = container_of(record, struct group, open);

		if (record->release == at_open && (id ? group->id == id : !group->closed))
			return group;
	}
	return NULL;
}

void devres_close_group(struct device *dev, void *id)
{
	struct group *group;
	unsigned long flags;

	spin_lock_irqsave(&dev->devres_lock, flags);
	group = find_group(dev, id);
	if (group) {
		list_add_tail(&group->close.entry, &dev->devres_head);
		group->closed = true;
	}
	spin_unlock_irqrestore(&dev->devres_lock, flags);
	WARN_ON(!group);
}

void devres_remove_group(struct device *dev, void *id)
{
	struct group *group;
	unsigned long flags;

	spin_lock_irqsave(&dev->devres_lock, flags);
	group = find_group(dev, id);
	if (group) {
		list_del_init(&group->open.entry);
		list_del_init(&group->close.entry);
	}
	spin_unlock_irqrestore(&dev->devres_lock, flags);
	WARN_ON(!group);
	kfree(group);
}

int devres_release_group(struct device *dev, void *id)
{
	struct list_head *first, *end;
	struct group *group;
	unsigned long flags;
	LIST_HEAD(list);

	spin_lock_irqsave(&dev->devres_lock, flags);
	group = find_group(dev, id);
	if (group) {
		first = &group->open.entry;
		end = group->closed ? group->close.entry.next : &dev->devres_head;
		while (first != end) {
			struct list_head *next = first->next;

			list_move_tail(first, &list);
			first = next;
		}
	}
	spin_unlock_irqrestore(&dev->devres_lock, flags);
	WARN_ON(!group);
	return release_list(dev, &list);
}

struct action {
	void (*call)(void *data);
	void *data;
};

static void run_action(struct device *dev, void *res)
{
	struct action *action = res;

	action->call(action->data);
}

static int is_action(struct device *dev, void *res, void *match_data)
{
	return !memcmp(res, match_data, sizeof(struct action));
}

static int add_action(struct device *dev, void (*call)(void *data), void *data, unsigned long site)
{
	struct record *record = new_record(run_action, sizeof(struct action), GFP_KERNEL, "action", site);

	if (!record)
		return -ENOMEM;
	*(struct action *)record->data = (struct action){ call, data };
	link_record(dev, record);
	return 0;
}

int devm_add_action(struct device *dev, void (*call)(void *data), void *data)
{
	return add_action(dev, call, data, _RET_IP_);
}

int devm_add_action_or_reset(struct device *dev, void (*call)(void *data), void *data)
{
	int error = add_action(dev, call, data, _RET_IP_);

	if (error)
		call(data);
	return error;
}

void devm_remove_action(struct device *dev, void (*call)(void *data), void *data)
{
	struct action action = { call, data };

	WARN_ON(devres_destroy(dev, run_action, is_action, &action));
}

void devm_release_action(struct device *dev, void (*call)(void *data), void *data)
{
	struct action action = { call, data };

	WARN_ON(devres_release(dev, run_action, is_action, &action));
}

/* A block is its record's data. */
static void no_release(struct device *dev, void *res) { }
static int is_block(struct device *dev, void *res, void *match_data) { return res == match_data; }

static void *block(struct device *dev, size_t size, gfp_t gfp, unsigned long site)
{
	struct record *record = size ? new_record(no_release, size, gfp, "block", site) : NULL;

	if (!size)
		return ZERO_SIZE_PTR;
	if (!record)
		return NULL;
	link_record(dev, record);
	return record->data;
}

void *devm_kmalloc(struct device *dev, size_t size, gfp_t gfp) { return block(dev, size, gfp, _RET_IP_); }

void devm_kfree(struct device *dev, const void *p)
{
	if (!ZERO_OR_NULL_PTR(p))
		WARN_ON(devres_destroy(dev, no_release, is_block, (void *)p));
}

void *devm_krealloc(struct device *dev, void *p, size_t size, gfp_t gfp)
{
	void *moved;

	if (!size) {
		devm_kfree(dev, p);
		return ZERO_SIZE_PTR;
	}
	if (ZERO_OR_NULL_PTR(p))
		return block(dev, size, gfp, _RET_IP_);
	if (WARN_ON(!devres_find(dev, no_release, is_block, p)))
		return NULL;
	if (size <= record_of(p)->size)
		return p;
	moved = block(dev, size, gfp, _RET_IP_);
	if (moved) {
		memcpy(moved, p, record_of(p)->size);
		devm_kfree(dev, p);
	}
	return moved;
}

static void *copy(struct device *dev, const void *src, size_t size, gfp_t gfp, unsigned long site)
{
	void *p = block(dev, size, gfp, site);

	return p ? memcpy(p, src, size) : NULL;
}

void *devm_kmemdup(struct device *dev, const void *src, size_t size, gfp_t gfp)
{
	return copy(dev, src, size, gfp, _RET_IP_);
}

char *devm_kstrdup(struct device *dev, const char *s, gfp_t gfp)
{
	return s ? copy(dev, s, strlen(s) + 1, gfp, _RET_IP_) : NULL;
}

static char *print(struct device *dev, gfp_t gfp, const char *fmt, va_list args, unsigned long site)
{
	va_list again;
	size_t size;
	char *p;

	va_copy(again, args);
	size = (size_t)vsnprintf(NULL, 0, fmt, again) + 1;
	va_end(again);
	p = block(dev, size, gfp, site);
	if (p)
		vsnprintf(p, size, fmt, args);
	return p;
}

char *devm_kvasprintf(struct device *dev, gfp_t gfp, const char *fmt, va_list args)
{
	return print(dev, gfp, fmt, args, _RET_IP_);
}

char *devm_kasprintf(struct device *dev, gfp_t gfp, const char *fmt, ...)
{
	return WITH_ARGS(fmt, print(dev, gfp, fmt, args, _RET_IP_));
}

struct pages {
	unsigned long addr;
	unsigned int order;
};

static void free_some_pages(struct device *dev, void *res)
{
	struct pages *pages = res;

	free_pages(pages->addr, pages->order);
}

static int is_pages(struct device *dev, void *res, void *match_data)
{
	return ((struct pages *)res)->addr == (unsigned long)match_data;
}

unsigned long devm_get_free_pages(struct device *dev, gfp_t gfp, unsigned int order)
{
	struct page *page = kapi_alloc_pages_for(gfp, order, _RET_IP_);
	struct record *record;

	if (!page)
		return 0;
	record = new_record(free_some_pages, sizeof(struct pages), GFP_KERNEL, "pages", _RET_IP_);
	if (!record) {
		__free_pages(page, order);
		return 0;
	}
	*(struct pages *)record->data = (struct pages){ (unsigned long)page_address(page), order };
	link_record(dev, record);
	return (unsigned long)page_address(page);
}

void devm_free_pages(struct device *dev, unsigned long addr)
{
	WARN_ON(devres_release(dev, free_some_pages, is_pages, (void *)addr));
}

static void free_some_percpu(struct device *dev, void *res) { free_percpu(*(void **)res); }

void *__devm_alloc_percpu(struct device *dev, size_t size, size_t align)
{
	void *p = kapi_alloc_percpu_for(size, align, _RET_IP_);
	struct record *record = p ? new_record(free_some_percpu, sizeof(p), GFP_KERNEL, "percpu", _RET_IP_) : NULL;

	if (!record) {
		free_percpu(p);
		return NULL;
	}
	*(void **)record->data = p;
	link_record(dev, record);
	return p;
}
