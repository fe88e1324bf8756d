/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Watchdogs, which a process does not have: --timeout is its own. */
#ifndef _LINUX_NMI_H
#define _LINUX_NMI_H

static inline void touch_softlockup_watchdog(void) { }
static inline void touch_softlockup_watchdog_sync(void) { }
static inline void touch_all_softlockup_watchdogs(void) { }
static inline void touch_nmi_watchdog(void) { }

#endif
