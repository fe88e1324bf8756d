/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Shifts of 64 bits, by the names that a compiler calls on a machine of 32. */
#ifndef _LINUX_LIBGCC_H
#define _LINUX_LIBGCC_H

typedef int word_type __attribute__((mode(__word__)));

extern long long __ashldi3(long long u, word_type b);
extern long long __ashrdi3(long long u, word_type b);
extern long long __lshrdi3(long long u, word_type b);

#endif
