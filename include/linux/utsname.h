/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernel's name. */
#ifndef _LINUX_UTSNAME_H
#define _LINUX_UTSNAME_H

#include <linux/version.h>

struct new_utsname {
	char sysname[65], nodename[65], release[65], version[65], machine[65], domainname[65];
};
extern struct new_utsname *utsname(void);
#define init_utsname() utsname()

#endif
