/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Number of elements. */
#ifndef _LINUX_ARRAY_SIZE_H
#define _LINUX_ARRAY_SIZE_H

#include <linux/build_bug.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]) + __must_be_array(a))

#endif
