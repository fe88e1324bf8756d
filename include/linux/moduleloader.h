/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* See <linux/module.h>. */
#ifndef _LINUX_MODULELOADER_H
#define _LINUX_MODULELOADER_H

#include <linux/module.h>

#endif
