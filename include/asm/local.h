/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/percpu.h>. */
#ifndef _ASM_LOCAL_H
#define _ASM_LOCAL_H

#include <linux/percpu.h>

#endif
