/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* __stringify() is in compiler.h. */
#ifndef _LINUX_STRINGIFY_H
#define _LINUX_STRINGIFY_H

#include <linux/compiler.h>

#endif
