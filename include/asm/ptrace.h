/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A thread's registers, as a probe sees them. */
#ifndef _ASM_PTRACE_H
#define _ASM_PTRACE_H

#include <linux/types.h>

#ifdef __x86_64__
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

static inline unsigned long regs_return_value(struct pt_regs *regs) { return regs->ax; }
static inline void regs_set_return_value(struct pt_regs *regs, unsigned long value) { regs->ax = value; }
static inline unsigned long instruction_pointer(struct pt_regs *regs) { return regs->ip; }
static inline void instruction_pointer_set(struct pt_regs *regs, unsigned long ip) { regs->ip = ip; }
static inline unsigned long kernel_stack_pointer(struct pt_regs *regs) { return regs->sp; }

/* An argument of a function that begins, from 0 on; those behind the sixth are on the stack. */
static inline unsigned long regs_get_kernel_argument(struct pt_regs *regs, unsigned int n)
{
	const unsigned long first[] = { regs->di, regs->si, regs->dx, regs->cx, regs->r8, regs->r9 };

	return n < 6 ? first[n] : ((unsigned long *)regs->sp)[n - 5];
}
#else
struct pt_regs {
	unsigned long regs[31], sp, pc, pstate;
};

static inline unsigned long regs_return_value(struct pt_regs *regs) { return regs->regs[0]; }
static inline void regs_set_return_value(struct pt_regs *regs, unsigned long value) { regs->regs[0] = value; }
static inline unsigned long instruction_pointer(struct pt_regs *regs) { return regs->pc; }
static inline void instruction_pointer_set(struct pt_regs *regs, unsigned long pc) { regs->pc = pc; }
static inline unsigned long kernel_stack_pointer(struct pt_regs *regs) { return regs->sp; }
static inline unsigned long regs_get_kernel_argument(struct pt_regs *regs, unsigned int n)
{
	return n < 8 ? regs->regs[n] : ((unsigned long *)regs->sp)[n - 8];
}
#endif

#endif
