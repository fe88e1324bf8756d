// SPDX-License-Identifier: MIT OR Apache-2.0
// File systems by name, and modules that are asked for.
#include "host.h"
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/kmod.h>
#include <linux/module.h>
#include <linux/spinlock.h>
#include <linux/string.h>

/* What a process gets from wait() when modprobe says that there is no such module. */
#define NO_SUCH_MODULE 256

static int is_own(const char *fmt, va_list args)
{
	char name[MODULE_NAME_LEN];

	vscnprintf(name, sizeof(name), fmt, args);
	strreplace(name, '-', '_');
	return !strcmp(name, THIS_MODULE->name);
}

int __request_module(bool wait, const char *name, ...)
{
	might_sleep();
	return WITH_ARGS(name, is_own(name, args)) || !wait ? 0 : NO_SUCH_MODULE;
}

static struct file_system_type *types;
static DEFINE_SPINLOCK(lock);

static struct file_system_type **find(const char *name, size_t len)
{
	struct file_system_type **at;

	for (at = &types; *at && (strlen((*at)->name) != len || strncmp((*at)->name, name, len)); at = &(*at)->next)
		;
	return at;
}

int register_filesystem(struct file_system_type *type)
{
	struct file_system_type **at;
	int error = -EBUSY;

	spin_lock(&lock);
	at = find(type->name, strlen(type->name));
	if (!*at && !type->next) {
		*at = type;
		error = 0;
	}
	spin_unlock(&lock);
	if (!error)
		kapi_stands(type, "the file system", type->name);
	return error;
}

int unregister_filesystem(struct file_system_type *type)
{
	struct file_system_type **at;
	int error = -EINVAL;

	spin_lock(&lock);
	at = find(type->name, strlen(type->name));
	if (*at == type) {
		*at = type->next;
		type->next = NULL;
		error = 0;
	}
	spin_unlock(&lock);
	if (!error)
		kapi_gone(type);
	return error;
}

static struct file_system_type *get(const char *name, size_t len)
{
	struct file_system_type *type;

	spin_lock(&lock);
	type = *find(name, len);
	if (type)
		__module_get(type->owner);
	spin_unlock(&lock);
	return type;
}

struct file_system_type *get_fs_type(const char *name)
{
	/* What is behind a point is the kind of one: "fuse.x". */
	size_t len = strcspn(name, ".");
	struct file_system_type *type = get(name, len);

	if (!type && !request_module("fs-%.*s", (int)len, name))
		type = get(name, len);
	return type;
}

void put_filesystem(struct file_system_type *type) { module_put(type->owner); }
