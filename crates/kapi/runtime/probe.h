/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Breakpoints at the beginning of functions. Not for modules. */
#ifndef _PROBE_H
#define _PROBE_H

#include <linux/kprobes.h>

/* Host: a function's address by its name, 0 for none; of a number in all of them, with its name, 0 behind the last. */
extern unsigned long kapi_symbol_find(const char *name);
extern unsigned long kapi_symbol_at(unsigned long number, char *name, size_t size);
/* Host: the function around an address. */
extern bool kapi_symbol_of(unsigned long address, unsigned long *start, unsigned long *size);
/* Host: sets a breakpoint at a function's first instruction, or takes it off; an error where none can stand. */
extern int kapi_breakpoint(unsigned long address, bool set);

/* Calls go to @replacement; NULL: no more. */
extern int kapi_redirect(unsigned long address, void *replacement);
/* As register_kretprobe(), without a place of its own: it can have several. */
extern int kapi_kretprobe_init(struct kretprobe *rp);
extern void kapi_kretprobe_end(struct kretprobe *rp);
/* A call that begins at @entry is one of @rp. */
extern int kapi_kretprobe_enter(struct kretprobe *rp, struct pt_regs *regs, unsigned long entry);

#endif
