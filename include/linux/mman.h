/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/mm.h>. */
#ifndef _LINUX_MMAN_H
#define _LINUX_MMAN_H

#include <linux/mm.h>

#endif
