/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Users and groups: those of one namespace. */
#ifndef _LINUX_UIDGID_H
#define _LINUX_UIDGID_H

#include <linux/types.h>

typedef struct {
	uid_t val;
} kuid_t;
typedef struct {
	gid_t val;
} kgid_t;

#define KUIDT_INIT(value) ((kuid_t){ value })
#define KGIDT_INIT(value) ((kgid_t){ value })
#define GLOBAL_ROOT_UID KUIDT_INIT(0)
#define GLOBAL_ROOT_GID KGIDT_INIT(0)
#define INVALID_UID KUIDT_INIT(-1)
#define INVALID_GID KGIDT_INIT(-1)

struct user_namespace;
extern struct user_namespace init_user_ns;

static inline uid_t __kuid_val(kuid_t uid) { return uid.val; }
static inline gid_t __kgid_val(kgid_t gid) { return gid.val; }
static inline bool uid_eq(kuid_t a, kuid_t b) { return a.val == b.val; }
static inline bool gid_eq(kgid_t a, kgid_t b) { return a.val == b.val; }
static inline bool uid_lt(kuid_t a, kuid_t b) { return a.val < b.val; }
static inline bool uid_gt(kuid_t a, kuid_t b) { return a.val > b.val; }
static inline bool uid_valid(kuid_t uid) { return uid.val != (uid_t)-1; }
static inline bool gid_valid(kgid_t gid) { return gid.val != (gid_t)-1; }
static inline uid_t from_kuid(struct user_namespace *ns, kuid_t uid) { return uid.val; }
static inline gid_t from_kgid(struct user_namespace *ns, kgid_t gid) { return gid.val; }
static inline uid_t from_kuid_munged(struct user_namespace *ns, kuid_t uid) { return uid.val; }
static inline kuid_t make_kuid(struct user_namespace *ns, uid_t uid) { return KUIDT_INIT(uid); }
static inline kgid_t make_kgid(struct user_namespace *ns, gid_t gid) { return KGIDT_INIT(gid); }

#endif
