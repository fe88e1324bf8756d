/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Addresses to names: %pS does it. */
#ifndef _LINUX_KALLSYMS_H
#define _LINUX_KALLSYMS_H

#include <linux/kernel.h>

#endif
