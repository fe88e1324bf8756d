/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Module parameters: each is a record in a section that the host reads before init. */
#ifndef _LINUX_MODULEPARAM_H
#define _LINUX_MODULEPARAM_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <linux/build_bug.h>
#include <linux/version.h>

#ifndef KBUILD_MODNAME
#define KBUILD_MODNAME "module"
#endif

#define __MODULE_INFO(tag, name, info) \
	static const char __UNIQUE_ID(name)[] \
		__used __attribute__((__section__(".modinfo"), __aligned__(1))) = #tag "=" info
#define MODULE_INFO(tag, info) __MODULE_INFO(tag, tag, info)
#define MODULE_PARM_DESC(name, description) __MODULE_INFO(parm, name, #name ":" description)

struct kernel_param;

struct kernel_param_ops {
	unsigned int flags;
	int (*set)(const char *value, const struct kernel_param *param);
	int (*get)(char *buffer, const struct kernel_param *param);
	void (*free)(void *arg);
};

/**
 * struct kernel_param - a parameter
 * @name: as it is given on the command line
 * @type: name of the type; the element's for an array; "cb" for one with its own @ops
 * @arg: the variable; for "cb" what @ops asks for
 * @ops: for "cb" only
 * @elements_max: length of an array, 0 for a single value; size in bytes of a "string"
 * @elements: where the number of elements given is put, or NULL
 * @perm: mode of its file in /sys; 0 for none
 */
struct kernel_param {
	const char *name;
	const char *type;
	void *arg;
	const struct kernel_param_ops *ops;
	unsigned int elements_max;
	unsigned int perm;
	unsigned int *elements;
	unsigned long element_bytes;
};

#define __KAPI_PARAM(pname, ptype, parg, pops, pmax, pperm, pcount, pbytes) \
	static struct kernel_param __UNIQUE_ID(param) \
		__used __attribute__((__section__("__param"), __aligned__(8))) = { \
		.name = pname, .type = ptype, .arg = (void *)(parg), .ops = pops, \
		.elements_max = pmax, .perm = pperm, .elements = (unsigned int *)(pcount), \
		.element_bytes = pbytes }

#define module_param_named(name, value, type, perm) \
	__KAPI_PARAM(#name, #type, &(value), NULL, 0, perm, NULL, sizeof(value)); \
	__MODULE_INFO(parmtype, name, #name ":" #type)
#define module_param(name, type, perm) module_param_named(name, name, type, perm)
#define module_param_unsafe(name, type, perm) module_param(name, type, perm)
#define module_param_hw(name, type, hwtype, perm) module_param(name, type, perm)
#define core_param(name, var, type, perm) module_param_named(name, var, type, perm)

#define module_param_array_named(name, array, type, count, perm) \
	__KAPI_PARAM(#name, #type, array, NULL, sizeof(array) / sizeof((array)[0]), perm, \
		     __KAPI_COUNT_PTR(count), sizeof((array)[0])); \
	__MODULE_INFO(parmtype, name, #name ":array of " #type)
#define module_param_array(name, type, count, perm) module_param_array_named(name, name, type, count, perm)

#define module_param_string(name, string, len, perm) \
	__KAPI_PARAM(#name, "string", string, NULL, len, perm, NULL, 1); \
	__MODULE_INFO(parmtype, name, #name ":string")

#define module_param_cb(name, ops, arg, perm) __KAPI_PARAM(#name, "cb", arg, ops, 0, perm, NULL, 0)
#define module_param_call(name, set_fn, get_fn, arg, perm) \
	static const struct kernel_param_ops __param_ops_##name = { \
		.set = (void *)(set_fn), .get = (void *)(get_fn) }; \
	module_param_cb(name, &__param_ops_##name, arg, perm)

/* Up to 2.6.16: MODULE_PARM(variable, "1-4i"); the array before 2.6.10 had its count by name. */
#define MODULE_PARM(var, spec) \
	__KAPI_PARAM(#var, "parm:" spec, &(var), NULL, 0, 0, NULL, sizeof(var)); \
	__MODULE_INFO(parmtype, var, #var ":" spec)

#if LINUX_VERSION_CODE < KERNEL_VERSION(2, 6, 10)
#define __KAPI_COUNT_PTR(count) &(count)
#else
#define __KAPI_COUNT_PTR(count) (count)
#endif

extern int param_set_int(const char *value, const struct kernel_param *param);
extern int param_get_int(char *buffer, const struct kernel_param *param);
extern int param_set_uint(const char *value, const struct kernel_param *param);
extern int param_get_uint(char *buffer, const struct kernel_param *param);
extern const struct kernel_param_ops param_ops_int;
extern const struct kernel_param_ops param_ops_uint;

#endif
