/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Loading modules on demand: nobody does so here. */
#ifndef _LINUX_KMOD_H
#define _LINUX_KMOD_H

#include <linux/errno.h>
#include <linux/types.h>

#define request_module(name, ...) (-ENOSYS)
#define request_module_nowait(name, ...) (-ENOSYS)

#endif
