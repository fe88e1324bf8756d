/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Probes: functions that are called when another begins (kprobe), or ends (kretprobe).
 *
 * How it works: each function begins with an instruction that does nothing, so that a breakpoint can stand there.
 *
 * Difference from Linux: no probe in the middle of a function. On arm64 there is none at all: -EOPNOTSUPP.
 */
#ifndef _LINUX_KPROBES_H
#define _LINUX_KPROBES_H

#include <asm/ptrace.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kallsyms.h>
#include <linux/list.h>
#include <linux/types.h>

#define __kprobes
#define NOKPROBE_SYMBOL(name) extern typeof(name) name
#define nokprobe_inline __always_inline

struct kprobe;
struct kretprobe;
struct kretprobe_instance;
typedef u8 kprobe_opcode_t;
typedef int (*kprobe_pre_handler_t)(struct kprobe *p, struct pt_regs *regs);
typedef void (*kprobe_post_handler_t)(struct kprobe *p, struct pt_regs *regs, unsigned long flags);
typedef int (*kretprobe_handler_t)(struct kretprobe_instance *ri, struct pt_regs *regs);

#define KPROBE_FLAG_DISABLED 2

struct kprobe {
	/* Of those at one place. */
	struct list_head list;
	/* Hits while another probe's handler ran. */
	unsigned long nmissed;
	/* The place, or the function's name. */
	kprobe_opcode_t *addr;
	const char *symbol_name;
	unsigned int offset;
	/* Other than 0: the handler set the registers itself. */
	kprobe_pre_handler_t pre_handler;
	kprobe_post_handler_t post_handler;
	kprobe_opcode_t opcode;
	u32 flags;
};

struct kretprobe {
	struct kprobe kp;
	kretprobe_handler_t handler;
	/* Other than 0: this call's end is not looked at. */
	kretprobe_handler_t entry_handler;
	/* Calls at the same time at most. */
	int maxactive;
	int nmissed;
	/* Bytes of each call's own. */
	size_t data_size;
	struct list_head kapi_free;
};

struct kretprobe_instance {
	struct list_head kapi_list;
	struct kretprobe_instance *kapi_below;
	struct kretprobe *rp;
	kprobe_opcode_t *ret_addr;
	void *fp;
	/* Where the function begins. */
	unsigned long kapi_entry;
	char data[] __attribute__((__aligned__(8)));
};

/* -ENOENT: no such function; -EINVAL: it is not to be probed, or is already; for some, those before are taken off. */
extern int register_kprobe(struct kprobe *p);
extern void unregister_kprobe(struct kprobe *p);
extern int register_kprobes(struct kprobe **kps, int num);
extern void unregister_kprobes(struct kprobe **kps, int num);
extern int enable_kprobe(struct kprobe *p);
extern int disable_kprobe(struct kprobe *p);
extern int register_kretprobe(struct kretprobe *rp);
extern void unregister_kretprobe(struct kretprobe *rp);
extern int register_kretprobes(struct kretprobe **rps, int num);
extern void unregister_kretprobes(struct kretprobe **rps, int num);

static inline struct kretprobe *get_kretprobe(struct kretprobe_instance *ri) { return READ_ONCE(ri->rp); }
static inline unsigned long get_kretprobe_retaddr(struct kretprobe_instance *ri) { return (unsigned long)ri->ret_addr; }

#endif
