/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/cred.h>. */
#ifndef _LINUX_UIDGID_H
#define _LINUX_UIDGID_H

#include <linux/cred.h>

#endif
