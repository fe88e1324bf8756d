/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where a module begins and ends. */
#ifndef _LINUX_INIT_H
#define _LINUX_INIT_H

#include <linux/compiler.h>
#include <linux/types.h>

#define __init
#define __exit __used
#define __initdata
#define __initconst
#define __exitdata
#define __exit_p(x) x
#define __init_or_module
#define __initdata_or_module
#define __ref
#define __refdata
#define __devinit
#define __devinitdata
#define __devinitconst
#define __devexit
#define __devexit_p(x) x
#define __devexitdata
#define __cpuinit
#define __cpuinitdata
#define __meminit
#define __net_init
#define __net_exit

typedef int (*initcall_t)(void);
typedef void (*exitcall_t)(void);
extern int init_module(void);
extern void cleanup_module(void);

#define module_init(function) \
	static inline initcall_t __maybe_unused __inittest(void) { return function; } \
	int init_module(void) __attribute__((__alias__(#function)));
#define module_exit(function) \
	static inline exitcall_t __maybe_unused __exittest(void) { return function; } \
	void cleanup_module(void) __attribute__((__alias__(#function)));
#define early_initcall(fn) module_init(fn)
#define core_initcall(fn) module_init(fn)
#define postcore_initcall(fn) module_init(fn)
#define arch_initcall(fn) module_init(fn)
#define subsys_initcall(fn) module_init(fn)
#define fs_initcall(fn) module_init(fn)
#define device_initcall(fn) module_init(fn)
#define rootfs_initcall(fn) module_init(fn)
#define late_initcall(fn) module_init(fn)
#define late_initcall_sync(fn) module_init(fn)
#define __initcall(fn) module_init(fn)
#define __exitcall(fn) module_exit(fn)
#define __setup(str, fn)

#endif
