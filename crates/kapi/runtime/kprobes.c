// SPDX-License-Identifier: MIT OR Apache-2.0
// Probes at the beginning and the end of functions.
#include "host.h"
#include "probe.h"
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/spinlock.h>

unsigned long kallsyms_lookup_name(const char *name) { return kapi_symbol_find(name); }

bool kallsyms_lookup_size_offset(unsigned long addr, unsigned long *symbolsize, unsigned long *offset)
{
	unsigned long start, size;

	if (!kapi_symbol_of(addr, &start, &size))
		return false;
	if (symbolsize)
		*symbolsize = size;
	if (offset)
		*offset = addr - start;
	return true;
}

unsigned long ftrace_location_range(unsigned long start, unsigned long end)
{
	unsigned long at, size;

	return kapi_symbol_of(start, &at, &size) && at >= start && at <= end ? at : 0;
}

unsigned long ftrace_location(unsigned long ip)
{
	unsigned long at, size;

	return kapi_symbol_of(ip, &at, &size) ? at : 0;
}

/* A place with a breakpoint. Places stay: a thread may be on its way to the handler. */
struct place {
	struct hlist_node node;
	unsigned long address;
	struct list_head probes;
	void *replacement;
	bool set;
};

#define BUCKETS 64
static struct hlist_head places[BUCKETS];
static DEFINE_SPINLOCK(lock);

static struct hlist_head *bucket(unsigned long address) { return &places[(address >> 4) % BUCKETS]; }

static struct place *find(unsigned long address)
{
	struct place *place;

	hlist_for_each_entry_rcu(place, bucket(address), node)
		if (place->address == address)
			return place;
	return NULL;
}

/* Under the lock. */
static struct place *find_or_add(unsigned long address)
{
	struct place *place = find(address);

	if (place)
		return place;
	place = kapi_alloc(sizeof(*place));
	if (!place)
		return NULL;
	memset(place, 0, sizeof(*place));
	place->address = address;
	INIT_LIST_HEAD(&place->probes);
	hlist_add_head_rcu(&place->node, bucket(address));
	return place;
}

/* Under the lock: a breakpoint stands where somebody wants it. */
static int settle(struct place *place)
{
	bool wanted = !list_empty(&place->probes) || place->replacement;
	int error = 0;

	if (wanted != place->set) {
		error = kapi_breakpoint(place->address, wanted);
		if (!error)
			place->set = wanted;
	}
	return error;
}

int kapi_redirect(unsigned long address, void *replacement)
{
	struct place *place;
	unsigned long flags;
	int error = -ENOMEM;

	spin_lock_irqsave(&lock, flags);
	place = find_or_add(address);
	if (place) {
		place->replacement = replacement;
		error = settle(place);
		if (error)
			place->replacement = NULL;
	}
	spin_unlock_irqrestore(&lock, flags);
	return error;
}

static int resolve(struct kprobe *p)
{
	unsigned long start, size;

	if (!p->symbol_name == !p->addr)
		return -EINVAL;
	if (p->symbol_name)
		p->addr = (kprobe_opcode_t *)kapi_symbol_find(p->symbol_name);
	if (!p->addr)
		return -ENOENT;
	/* Only a function's first instruction is one that does nothing. */
	p->addr += p->offset;
	if (!kapi_symbol_of((unsigned long)p->addr, &start, &size) || start != (unsigned long)p->addr)
		return -EINVAL;
	return 0;
}

static bool is_registered(const struct kprobe *p)
{
	const struct kprobe *other;
	struct place *place = p->addr ? find((unsigned long)p->addr) : NULL;

	if (place)
		list_for_each_entry(other, &place->probes, list)
			if (other == p)
				return true;
	return false;
}

int register_kprobe(struct kprobe *p)
{
	struct place *place;
	unsigned long flags;
	int error;

	spin_lock_irqsave(&lock, flags);
	error = is_registered(p) ? -EINVAL : resolve(p);
	place = error ? NULL : find_or_add((unsigned long)p->addr);
	if (place) {
		p->nmissed = 0;
		list_add_tail_rcu(&p->list, &place->probes);
		error = settle(place);
		if (error)
			list_del_rcu(&p->list);
	} else if (!error) {
		error = -ENOMEM;
	}
	spin_unlock_irqrestore(&lock, flags);
	if (!error)
		kapi_stands(p, "the probe", p->symbol_name ?: "of an address");
	return error;
}

static void take_off(struct kprobe *p)
{
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	if (is_registered(p)) {
		list_del_rcu(&p->list);
		settle(find((unsigned long)p->addr));
	}
	spin_unlock_irqrestore(&lock, flags);
	kapi_gone(p);
}

void unregister_kprobes(struct kprobe **kps, int num)
{
	int i;

	for (i = 0; i < num; i++)
		take_off(kps[i]);
	synchronize_rcu();
}

void unregister_kprobe(struct kprobe *p) { unregister_kprobes(&p, 1); }

int register_kprobes(struct kprobe **kps, int num)
{
	int i, error = num > 0 ? 0 : -EINVAL;

	for (i = 0; i < num && !error; i++)
		error = register_kprobe(kps[i]);
	if (error && i > 1)
		unregister_kprobes(kps, i - 1);
	return error;
}

int enable_kprobe(struct kprobe *p)
{
	p->flags &= ~(u32)KPROBE_FLAG_DISABLED;
	return 0;
}

int disable_kprobe(struct kprobe *p)
{
	p->flags |= KPROBE_FLAG_DISABLED;
	return 0;
}

/* Where a function returns to whose end somebody wants to see. */
extern const char kapi_return_here[];
asm(".text\n.globl kapi_return_here\n.hidden kapi_return_here\nkapi_return_here:\n"
#ifdef __x86_64__
    "\tint3\n"
#else
    "\tbrk #0\n"
#endif
);

static DEFINE_SPINLOCK(instances);

int kapi_kretprobe_init(struct kretprobe *rp)
{
	int i;

	if (rp->maxactive <= 0)
		rp->maxactive = max(10, 2 * (int)nr_cpu_ids);
	rp->nmissed = 0;
	INIT_LIST_HEAD(&rp->kapi_free);
	for (i = 0; i < rp->maxactive; i++) {
		struct kretprobe_instance *ri = kapi_alloc(sizeof(*ri) + rp->data_size);

		if (!ri) {
			kapi_kretprobe_end(rp);
			return -ENOMEM;
		}
		ri->rp = rp;
		list_add(&ri->kapi_list, &rp->kapi_free);
	}
	return 0;
}

/* An instance whose function has not ended stays, and belongs to nobody. */
void kapi_kretprobe_end(struct kretprobe *rp)
{
	struct kretprobe_instance *ri, *next;

	list_for_each_entry_safe(ri, next, &rp->kapi_free, kapi_list) {
		list_del(&ri->kapi_list);
		kapi_free(ri, sizeof(*ri) + rp->data_size);
	}
}

static void recycle(struct kretprobe_instance *ri)
{
	unsigned long flags;

	spin_lock_irqsave(&instances, flags);
	list_add(&ri->kapi_list, &ri->rp->kapi_free);
	spin_unlock_irqrestore(&instances, flags);
}

#ifdef __x86_64__
int kapi_kretprobe_enter(struct kretprobe *rp, struct pt_regs *regs, unsigned long entry)
{
	struct kretprobe_instance *ri;
	unsigned long flags, *back = (unsigned long *)regs->sp;

	spin_lock_irqsave(&instances, flags);
	ri = list_first_entry_or_null(&rp->kapi_free, struct kretprobe_instance, kapi_list);
	if (ri)
		list_del(&ri->kapi_list);
	else
		rp->nmissed++;
	spin_unlock_irqrestore(&instances, flags);
	if (!ri)
		return 0;
	ri->ret_addr = (kprobe_opcode_t *)*back;
	ri->fp = back;
	ri->kapi_entry = entry;
	if (rp->entry_handler && rp->entry_handler(ri, regs)) {
		recycle(ri);
		return 0;
	}
	ri->kapi_below = current->kapi_returns;
	current->kapi_returns = ri;
	*back = (unsigned long)kapi_return_here;
	return 0;
}

/* A function has returned: the probes of it, the newest first, and then the caller. */
static void returned(struct pt_regs *regs)
{
	for (;;) {
		struct kretprobe_instance *ri = current->kapi_returns;
		unsigned long to = (unsigned long)ri->ret_addr;

		current->kapi_returns = ri->kapi_below;
		regs->ip = to;
		if (ri->rp->handler)
			ri->rp->handler(ri, regs);
		recycle(ri);
		if (to != (unsigned long)kapi_return_here)
			return;
	}
}

static void began(struct place *place, struct pt_regs *regs)
{
	struct kprobe *p;
	bool goes_elsewhere = false;

	list_for_each_entry_rcu(p, &place->probes, list) {
		if (p->flags & KPROBE_FLAG_DISABLED)
			continue;
		if (p->pre_handler && p->pre_handler(p, regs))
			goes_elsewhere = true;
	}
	list_for_each_entry_rcu(p, &place->probes, list)
		if (p->post_handler && !goes_elsewhere && !(p->flags & KPROBE_FLAG_DISABLED))
			p->post_handler(p, regs, 0);
	if (place->replacement && !goes_elsewhere)
		regs->ip = (unsigned long)place->replacement;
}

/* Called by the host at each breakpoint. Return: whether it is one of these. */
bool kapi_trap(struct pt_regs *regs)
{
	unsigned long at = regs->ip - 1;
	bool is_return = at == (unsigned long)kapi_return_here, inside = current->kapi_in_probe;
	struct place *place = is_return ? NULL : find(at);
	struct kprobe *p;

	if (!place && !is_return)
		return false;
	kapi_atomic_enter();
	current->kapi_in_probe = true;
	if (is_return) {
		returned(regs);
	} else if (inside) {
		list_for_each_entry_rcu(p, &place->probes, list)
			p->nmissed++;
		if (place->replacement)
			regs->ip = (unsigned long)place->replacement;
	} else {
		began(place, regs);
	}
	current->kapi_in_probe = inside;
	kapi_atomic_exit();
	return true;
}
#else
int kapi_kretprobe_enter(struct kretprobe *rp, struct pt_regs *regs, unsigned long entry) { return 0; }
bool kapi_trap(struct pt_regs *regs) { return false; }
#endif

static int enter(struct kprobe *p, struct pt_regs *regs)
{
	return kapi_kretprobe_enter(container_of(p, struct kretprobe, kp), regs, (unsigned long)p->addr);
}

int register_kretprobe(struct kretprobe *rp)
{
	int error = kapi_kretprobe_init(rp);

	if (error)
		return error;
	rp->kp.pre_handler = enter;
	rp->kp.post_handler = NULL;
	error = register_kprobe(&rp->kp);
	if (error)
		kapi_kretprobe_end(rp);
	return error;
}

void unregister_kretprobes(struct kretprobe **rps, int num)
{
	int i;

	for (i = 0; i < num; i++)
		take_off(&rps[i]->kp);
	synchronize_rcu();
	for (i = 0; i < num; i++)
		kapi_kretprobe_end(rps[i]);
}

void unregister_kretprobe(struct kretprobe *rp) { unregister_kretprobes(&rp, 1); }

int register_kretprobes(struct kretprobe **rps, int num)
{
	int i, error = num > 0 ? 0 : -EINVAL;

	for (i = 0; i < num && !error; i++)
		error = register_kretprobe(rps[i]);
	if (error && i > 1)
		unregister_kretprobes(rps, i - 1);
	return error;
}
