/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/param.h>. */
#ifndef _ASM_PARAM_H
#define _ASM_PARAM_H

#include <linux/param.h>

#endif
