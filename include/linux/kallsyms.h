/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Functions by name, and names by address: the module's, static ones too, and those that are here. */
#ifndef _LINUX_KALLSYMS_H
#define _LINUX_KALLSYMS_H

#include <linux/kernel.h>
#include <linux/types.h>

#define KSYM_NAME_LEN 512

/* Return: the address, 0 if there is none. */
extern unsigned long kallsyms_lookup_name(const char *name);
/* Where in its function an address is, and how large that is; false outside of all. Either pointer may be NULL. */
extern bool kallsyms_lookup_size_offset(unsigned long addr, unsigned long *symbolsize, unsigned long *offset);

#endif
