/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Words for values. */
#ifndef _LINUX_STRING_HELPERS_H
#define _LINUX_STRING_HELPERS_H

#include <linux/string.h>

#define str_yes_no(v) ((v) ? "yes" : "no")
#define str_on_off(v) ((v) ? "on" : "off")
#define str_enabled_disabled(v) ((v) ? "enabled" : "disabled")

#endif
