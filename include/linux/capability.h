/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/cred.h>. */
#ifndef _LINUX_CAPABILITY_H
#define _LINUX_CAPABILITY_H

#include <linux/cred.h>

#endif
