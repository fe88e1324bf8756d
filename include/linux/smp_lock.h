/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The big kernel lock, gone since 2.6.39: a recursive mutex here. */
#ifndef _LINUX_SMP_LOCK_H
#define _LINUX_SMP_LOCK_H

extern void lock_kernel(void);
extern void unlock_kernel(void);

#endif
