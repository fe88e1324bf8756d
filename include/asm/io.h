/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/io.h>. */
#ifndef _ASM_IO_H
#define _ASM_IO_H

#include <linux/io.h>

#endif
