/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/gfp.h>. */
#ifndef _LINUX_GFP_TYPES_H
#define _LINUX_GFP_TYPES_H

#include <linux/gfp.h>

#endif
