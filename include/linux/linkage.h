/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See compiler.h. */
#ifndef _LINUX_LINKAGE_H
#define _LINUX_LINKAGE_H

#include <linux/compiler.h>

#endif
