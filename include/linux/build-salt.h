/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/types.h>. */
#ifndef _LINUX_BUILD_SALT_H
#define _LINUX_BUILD_SALT_H

#include <linux/types.h>

#endif
