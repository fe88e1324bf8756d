/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where functions can be traced, and the registers that a tracer sees. */
#ifndef _LINUX_FTRACE_H
#define _LINUX_FTRACE_H

#include <asm/ptrace.h>
#include <linux/kallsyms.h>
#include <linux/types.h>

struct ftrace_regs {
	struct pt_regs regs;
};

static inline struct pt_regs *ftrace_get_regs(struct ftrace_regs *fregs) { return &fregs->regs; }
static inline unsigned long ftrace_regs_get_return_value(struct ftrace_regs *fregs)
{
	return regs_return_value(&fregs->regs);
}
static inline unsigned long ftrace_regs_get_argument(struct ftrace_regs *fregs, unsigned int n)
{
	return regs_get_kernel_argument(&fregs->regs, n);
}

/* The place in a range of addresses at which a function can be traced, 0 for none. */
extern unsigned long ftrace_location_range(unsigned long start, unsigned long end);
extern unsigned long ftrace_location(unsigned long ip);

#endif
