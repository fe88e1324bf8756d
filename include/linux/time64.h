/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/time.h>. */
#ifndef _LINUX_TIME64_H
#define _LINUX_TIME64_H

#include <linux/time.h>

#endif
