/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Gone since 2.6.19; modules of before ask for it. */
#ifndef _LINUX_CONFIG_H
#define _LINUX_CONFIG_H

#include <linux/kconfig.h>

#endif
