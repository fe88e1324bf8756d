/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Ticks per second. */
#ifndef _LINUX_PARAM_H
#define _LINUX_PARAM_H

#include <linux/kconfig.h>

#define HZ CONFIG_HZ
#define USER_HZ 100

#endif
