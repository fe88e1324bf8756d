/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/version.h>. */
#ifndef _LINUX_UTSRELEASE_H
#define _LINUX_UTSRELEASE_H

#include <linux/version.h>

#endif
