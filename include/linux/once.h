/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/types.h>. */
#ifndef _LINUX_ONCE_H
#define _LINUX_ONCE_H

#include <linux/types.h>

#endif
