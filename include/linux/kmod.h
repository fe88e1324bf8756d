/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Loading modules on demand: a module of any name but the one that runs is not found, as modprobe then says. */
#ifndef _LINUX_KMOD_H
#define _LINUX_KMOD_H

#include <linux/errno.h>
#include <linux/types.h>

/* Return: 0, or the exit status of modprobe, 256 for a module that is not there. */
extern int __request_module(bool wait, const char *name, ...) __attribute__((__format__(__printf__, 2, 3)));
#define request_module(name, ...) __request_module(true, name, ##__VA_ARGS__)
#define request_module_nowait(name, ...) __request_module(false, name, ##__VA_ARGS__)

#endif
