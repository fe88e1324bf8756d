/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Words for what is so or not.
 *
 * Linux counterpart: include/linux/string_choices.h @ 6.12.
 */
#ifndef _LINUX_STRING_CHOICES_H
#define _LINUX_STRING_CHOICES_H

#define str_true_false(v) ((v) ? "true" : "false")
#define str_yes_no(v) ((v) ? "yes" : "no")
#define str_on_off(v) ((v) ? "on" : "off")
#define str_enabled_disabled(v) ((v) ? "enabled" : "disabled")

#endif
