/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Whose process it is: root's, unless a step of --do says another. */
#ifndef _LINUX_CRED_H
#define _LINUX_CRED_H

#include <linux/sched.h>
#include <linux/uidgid.h>

#define CAP_CHOWN 0
#define CAP_DAC_OVERRIDE 1
#define CAP_FOWNER 3
#define CAP_KILL 5
#define CAP_NET_ADMIN 12
#define CAP_SYS_MODULE 16
#define CAP_SYS_RAWIO 17
#define CAP_SYS_PTRACE 19
#define CAP_SYS_ADMIN 21
#define CAP_SYS_NICE 23
#define CAP_SYS_RESOURCE 24
#define CAP_SYS_TTY_CONFIG 26

#define current_cred() (current->cred)
#define current_uid() (current->cred->uid)
#define current_euid() (current->cred->euid)
#define current_gid() (current->cred->gid)
#define current_egid() (current->cred->egid)
#define current_fsuid() (current->cred->fsuid)
#define current_user_ns() (&init_user_ns)
#define get_current_cred() current_cred()
static inline void put_cred(const struct cred *cred) {}

/* Root may everything, others nothing. */
static inline bool capable(int cap) { return current->cred->euid.val == 0; }
static inline bool ns_capable(struct user_namespace *ns, int cap) { return capable(cap); }

#endif
