/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/slab.h>. */
#ifndef _LINUX_MALLOC_H
#define _LINUX_MALLOC_H

#include <linux/slab.h>

#endif
