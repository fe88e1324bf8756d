/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/bitops.h>. */
#ifndef _LINUX_FIND_H
#define _LINUX_FIND_H

#include <linux/bitops.h>

#endif
