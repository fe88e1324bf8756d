/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reference counted parents of files in /sys: there is no /sys here. */
#ifndef _LINUX_KOBJECT_H
#define _LINUX_KOBJECT_H

#include <linux/kref.h>
#include <linux/list.h>

#endif
