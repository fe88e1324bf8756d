/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <asm/page.h>. */
#ifndef _LINUX_PFN_H
#define _LINUX_PFN_H

#include <asm/page.h>

#endif
