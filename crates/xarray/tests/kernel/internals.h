/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Names of Linux's node internals, so that lib/test_xarray.c compiles. The check functions that use them
 * are left out (see LEFT-OUT.md), so nothing here is ever run.
 */
#ifndef INTERNALS_H
#define INTERNALS_H

#include <linux/xarray.h>

#define xa_head(xa) ((xa)->xa_head)
#define xa_to_node(entry) ((struct xa_node *)(entry))
#define xa_entry_locked(xa, node, offset) ((void)(node), (void *)NULL)
#define xa_delete_node(node, update) ((void)(node), (void)(update))

#endif
