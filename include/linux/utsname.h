/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernel's name. */
#ifndef _LINUX_UTSNAME_H
#define _LINUX_UTSNAME_H

#include <linux/version.h>

struct new_utsname {
	char sysname[65], nodename[65], release[65], version[65], machine[65], domainname[65];
};

struct uts_namespace {
	struct new_utsname name;
};
extern struct uts_namespace init_uts_ns;

static inline struct new_utsname *utsname(void) { return &init_uts_ns.name; }
static inline struct new_utsname *init_utsname(void) { return &init_uts_ns.name; }

#endif
