/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The running task. */
#ifndef _ASM_CURRENT_H
#define _ASM_CURRENT_H

struct task_struct;

extern struct task_struct *kapi_current(void);
#define get_current() kapi_current()
#define current kapi_current()

#endif
