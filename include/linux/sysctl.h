/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Values of a module under /proc/sys, with a function that reads and writes each: `--cat` and `--do` use the files.
 *
 * A table ends with its size (since 6.6), or with an entry without a name (before).
 *
 * Linux counterpart: include/linux/sysctl.h @ 6.12.
 */
#ifndef _LINUX_SYSCTL_H
#define _LINUX_SYSCTL_H

#include <linux/array_size.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/rbtree.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <linux/version.h>
#include <linux/wait.h>

/* Numbers to point at. */
extern const int sysctl_vals[];
#define SYSCTL_ZERO ((void *)&sysctl_vals[0])
#define SYSCTL_ONE ((void *)&sysctl_vals[1])
#define SYSCTL_TWO ((void *)&sysctl_vals[2])
#define SYSCTL_THREE ((void *)&sysctl_vals[3])
#define SYSCTL_FOUR ((void *)&sysctl_vals[4])
#define SYSCTL_ONE_HUNDRED ((void *)&sysctl_vals[5])
#define SYSCTL_TWO_HUNDRED ((void *)&sysctl_vals[6])
#define SYSCTL_ONE_THOUSAND ((void *)&sysctl_vals[7])
#define SYSCTL_THREE_THOUSAND ((void *)&sysctl_vals[8])
#define SYSCTL_INT_MAX ((void *)&sysctl_vals[9])
#define SYSCTL_MAXOLDUID ((void *)&sysctl_vals[10])
#define SYSCTL_NEG_ONE ((void *)&sysctl_vals[11])

/* What a handler gets: since 6.11 it does not change its entry. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define KAPI_CTL const struct ctl_table
#else
#define KAPI_CTL struct ctl_table
#endif

struct ctl_table;
typedef int proc_handler(KAPI_CTL *ctl, int write, void *buffer, size_t *lenp, loff_t *ppos);

struct ctl_table {
	const char *procname;
	void *data;
	int maxlen;
	umode_t mode;
	proc_handler *proc_handler;
	void *extra1;
	void *extra2;
};

/* One value or several, limits in extra1 and extra2; a text; 0 and 1; a list of bits such as "1,3-5". */
extern int proc_dointvec(KAPI_CTL *ctl, int write, void *buffer, size_t *lenp, loff_t *ppos);
extern int proc_dointvec_minmax(KAPI_CTL *ctl, int write, void *buffer, size_t *lenp, loff_t *ppos);
extern int proc_douintvec(KAPI_CTL *ctl, int write, void *buffer, size_t *lenp, loff_t *ppos);
extern int proc_douintvec_minmax(KAPI_CTL *ctl, int write, void *buffer, size_t *lenp, loff_t *ppos);
extern int proc_dou8vec_minmax(KAPI_CTL *ctl, int write, void *buffer, size_t *lenp, loff_t *ppos);
extern int proc_doulongvec_minmax(KAPI_CTL *ctl, int write, void *buffer, size_t *lenp, loff_t *ppos);
extern int proc_dobool(KAPI_CTL *ctl, int write, void *buffer, size_t *lenp, loff_t *ppos);
extern int proc_dostring(KAPI_CTL *ctl, int write, void *buffer, size_t *lenp, loff_t *ppos);
extern int proc_do_large_bitmap(KAPI_CTL *ctl, int write, void *buffer, size_t *lenp, loff_t *ppos);

struct ctl_table_header;
/* Return: NULL if there is no memory, the folder is an empty one for ever, or an entry's limits are none of its type. */
extern struct ctl_table_header *register_sysctl_sz(const char *path, const struct ctl_table *table, size_t count);
extern struct ctl_table_header *register_sysctl_mount_point(const char *path);
extern void unregister_sysctl_table(struct ctl_table_header *header);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#define register_sysctl(path, table) register_sysctl_sz(path, table, ARRAY_SIZE(table))
#else
#define register_sysctl(path, table) register_sysctl_sz(path, table, SIZE_MAX)
#endif
#define register_sysctl_init(path, table) ((void)register_sysctl(path, table))

#endif
