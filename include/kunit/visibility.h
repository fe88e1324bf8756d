/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Names that are seen outside of their file for tests only; here always. */
#ifndef _KUNIT_VISIBILITY_H
#define _KUNIT_VISIBILITY_H

#include <linux/export.h>

#define VISIBLE_IF_KUNIT
#define EXPORT_SYMBOL_IF_KUNIT(symbol) EXPORT_SYMBOL(symbol)

#endif
