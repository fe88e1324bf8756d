/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* When memory is out: who wants to be told before a process would be killed.
 *
 * Linux counterpart: include/linux/oom.h @ 6.12. */
#ifndef _LINUX_OOM_H
#define _LINUX_OOM_H

#include <linux/nodemask.h>
#include <linux/notifier.h>
#include <linux/sched/signal.h>
#include <linux/types.h>
#include <linux/uidgid.h>

#define OOM_SCORE_ADJ_MIN (-1000)
#define OOM_SCORE_ADJ_MAX 1000
#define OOM_DISABLE (-17)

extern int register_oom_notifier(struct notifier_block *nb);
extern int unregister_oom_notifier(struct notifier_block *nb);

#endif
