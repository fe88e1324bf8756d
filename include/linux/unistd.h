/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Nothing: old modules include it. */
#ifndef _LINUX_UNISTD_H
#define _LINUX_UNISTD_H

#include <linux/types.h>

#endif
