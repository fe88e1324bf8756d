/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Fields of words, named by their mask. */
#ifndef _LINUX_BITFIELD_H
#define _LINUX_BITFIELD_H

#include <linux/bits.h>
#include <linux/types.h>

#define __bf_shf(mask) (__builtin_ffsll(mask) - 1)
#define FIELD_MAX(mask) ((typeof(mask))((mask) >> __bf_shf(mask)))
#define FIELD_FIT(mask, value) (!(((typeof(mask))(value) << __bf_shf(mask)) & ~(mask)))
#define FIELD_PREP(mask, value) (((typeof(mask))(value) << __bf_shf(mask)) & (mask))
#define FIELD_GET(mask, word) ((typeof(mask))(((word) & (mask)) >> __bf_shf(mask)))

#endif
