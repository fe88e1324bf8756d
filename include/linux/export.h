/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Exported symbols: any non-static symbol is visible to the module's other files. */
#ifndef _LINUX_EXPORT_H
#define _LINUX_EXPORT_H

#include <linux/compiler.h>

#define EXPORT_SYMBOL(symbol) extern typeof(symbol) symbol
#define EXPORT_SYMBOL_GPL(symbol) extern typeof(symbol) symbol
#define EXPORT_SYMBOL_NS(symbol, ns) extern typeof(symbol) symbol
#define EXPORT_SYMBOL_NS_GPL(symbol, ns) extern typeof(symbol) symbol
#define EXPORT_NO_SYMBOLS

struct module;
extern struct module __this_module;
#define THIS_MODULE (&__this_module)

#endif
