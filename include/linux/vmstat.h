/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/mm.h>. */
#ifndef _LINUX_VMSTAT_H
#define _LINUX_VMSTAT_H

#include <linux/mm.h>

#endif
