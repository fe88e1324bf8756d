/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Notice of a reboot, which never comes here. */
#ifndef _LINUX_REBOOT_H
#define _LINUX_REBOOT_H

#include <linux/notifier.h>

#define SYS_DOWN 0x0001
#define SYS_RESTART SYS_DOWN
#define SYS_HALT 0x0002
#define SYS_POWER_OFF 0x0003

extern int register_reboot_notifier(struct notifier_block *nb);
extern int unregister_reboot_notifier(struct notifier_block *nb);

#endif
