/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Debugging messages by class: a parameter of the module says which classes are printed. */
#ifndef _LINUX_DYNAMIC_DEBUG_H
#define _LINUX_DYNAMIC_DEBUG_H

#include <linux/moduleparam.h>
#include <linux/printk.h>

/* How a parameter names classes: one by one or up to a level, by bits and numbers or by names. */
enum class_map_type {
	DD_CLASS_TYPE_DISJOINT_BITS,
	DD_CLASS_TYPE_LEVEL_NUM,
	DD_CLASS_TYPE_DISJOINT_NAMES,
	DD_CLASS_TYPE_LEVEL_NAMES
};

struct ddebug_class_map {
	const char **class_names;
	int length;
	int base;
	enum class_map_type map_type;
};

struct ddebug_class_param {
	union {
		unsigned long *bits;
		unsigned int *lvl;
	};
	char flags[8];
	const struct ddebug_class_map *map;
};

#define DECLARE_DYNDBG_CLASSMAP(var, type, first, ...) \
	static const char *var##_names[] = { __VA_ARGS__ }; \
	static const struct ddebug_class_map __used var = { \
		.class_names = var##_names, .length = sizeof(var##_names) / sizeof(var##_names[0]), \
		.base = (first), .map_type = (type) }

extern int param_set_dyndbg_classes(const char *value, const struct kernel_param *param);
extern int param_get_dyndbg_classes(char *buffer, const struct kernel_param *param);
extern const struct kernel_param_ops param_ops_dyndbg_classes;
/* Whether the messages of a class are printed. */
extern bool kapi_class_is_on(unsigned int class);

#define __pr_debug_cls(class, fmt, ...) do { \
	BUILD_BUG_ON(!__builtin_constant_p(class)); \
	if (kapi_class_is_on(class)) \
		printk(KERN_DEBUG pr_fmt(fmt), ##__VA_ARGS__); \
} while (0)

#endif
