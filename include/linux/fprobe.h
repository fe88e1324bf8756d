/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Probes of many functions at once, their beginning and their end.
 *
 * Linux counterpart: include/linux/fprobe.h @ 6.12. The handlers get `struct ftrace_regs` since 6.14.
 */
#ifndef _LINUX_FPROBE_H
#define _LINUX_FPROBE_H

#include <linux/ftrace.h>
#include <linux/types.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0)
#define KAPI_FPROBE_REGS struct ftrace_regs
#else
#define KAPI_FPROBE_REGS struct pt_regs
#endif

struct fprobe;
struct kapi_fprobe;
/* Other than 0: this call's end is not looked at. */
typedef int (*fprobe_entry_cb)(struct fprobe *fp, unsigned long entry_ip, unsigned long ret_ip, KAPI_FPROBE_REGS *regs,
			       void *entry_data);
typedef void (*fprobe_exit_cb)(struct fprobe *fp, unsigned long entry_ip, unsigned long ret_ip, KAPI_FPROBE_REGS *regs,
			       void *entry_data);

struct fprobe {
	unsigned long nmissed;
	unsigned int flags;
	size_t entry_data_size;
	int nr_maxactive;
	fprobe_entry_cb entry_handler;
	fprobe_exit_cb exit_handler;
	struct kapi_fprobe *kapi_probe;
};

/* Of the functions whose name fits @filter and not @notfilter; wildcards are * and ?. */
extern int register_fprobe(struct fprobe *fp, const char *filter, const char *notfilter);
extern int register_fprobe_ips(struct fprobe *fp, unsigned long *addrs, int num);
extern int register_fprobe_syms(struct fprobe *fp, const char **syms, int num);
extern int unregister_fprobe(struct fprobe *fp);

#endif
