/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/mm.h>. */
#ifndef _LINUX_MEMORY_H
#define _LINUX_MEMORY_H

#include <linux/mm.h>

#endif
