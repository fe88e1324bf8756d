/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/uaccess.h>. */
#ifndef _ASM_SEGMENT_H
#define _ASM_SEGMENT_H

#include <linux/uaccess.h>

#endif
