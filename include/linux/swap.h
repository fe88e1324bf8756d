/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/mm.h>. */
#ifndef _LINUX_SWAP_H
#define _LINUX_SWAP_H

#include <linux/mm.h>

#endif
