/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Whose process it is: root's. */
#ifndef _LINUX_CRED_H
#define _LINUX_CRED_H

#include <linux/sched.h>

#define current_cred() (current->cred)
#define current_uid() (current->cred->uid)
#define current_euid() (current->cred->euid)
#define current_gid() (current->cred->gid)
#define from_kuid(ns, uid) ((uid).val)
#define __kuid_val(uid) ((uid).val)
#define capable(cap) 1
#define CAP_SYS_ADMIN 21

#endif
