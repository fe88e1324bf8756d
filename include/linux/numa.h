/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Nodes. */
#ifndef _LINUX_NUMA_H
#define _LINUX_NUMA_H

#define NODES_SHIFT 10
#define MAX_NUMNODES (1 << NODES_SHIFT)
#define NUMA_NO_NODE (-1)

#endif
