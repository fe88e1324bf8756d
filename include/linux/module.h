/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Modules: metadata, parameters, reference counts. */
#ifndef _LINUX_MODULE_H
#define _LINUX_MODULE_H

#include <linux/bitmap.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/dynamic_debug.h>
#include <linux/moduleparam.h>
#include <linux/spinlock.h>
#include <linux/stat.h>
#include <linux/string.h>
#include <linux/kmod.h>
#include <linux/kobject.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <asm/timex.h>

#define MODULE_NAME_LEN 56

enum module_state {
	MODULE_STATE_LIVE,
	MODULE_STATE_COMING,
	MODULE_STATE_GOING,
	MODULE_STATE_UNFORMED
};

struct module {
	enum module_state state;
	struct list_head list;
	char name[MODULE_NAME_LEN];
	const char *version;
	atomic_t refcnt;
};

extern bool try_module_get(struct module *module);
extern void module_put(struct module *module);
#define __module_get(module) ((void)try_module_get(module))
#define module_refcount(module) atomic_read(&(module)->refcnt)
#define module_name(mod) ({ \
	const struct module *__kapi_module = (mod); \
	__kapi_module ? __kapi_module->name : "kernel"; })
/* Up to 2.4. */
#define MOD_INC_USE_COUNT __module_get(THIS_MODULE)
#define MOD_DEC_USE_COUNT module_put(THIS_MODULE)
#define MOD_IN_USE (module_refcount(THIS_MODULE) != 0)
#define SET_MODULE_OWNER(x) ((x)->owner = THIS_MODULE)

#define MODULE_LICENSE(text) MODULE_INFO(license, text)
#define MODULE_AUTHOR(text) MODULE_INFO(author, text)
#define MODULE_DESCRIPTION(text) MODULE_INFO(description, text)
#define MODULE_VERSION(text) MODULE_INFO(version, text)
#define MODULE_ALIAS(text) MODULE_INFO(alias, text)
#define MODULE_SOFTDEP(text) MODULE_INFO(softdep, text)
#define MODULE_FIRMWARE(text) MODULE_INFO(firmware, text)
#define MODULE_IMPORT_NS(ns) MODULE_INFO(import_ns, __stringify(ns))
#define MODULE_SUPPORTED_DEVICE(name)
#define MODULE_DEVICE_TABLE(type, name)
#define MODULE_ALIAS_MISCDEV(minor) MODULE_INFO(alias, "char-major-10-" __stringify(minor))

#define symbol_get(x) (&(x))
#define symbol_put(x) ((void)&(x))

#endif
