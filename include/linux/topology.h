/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Which CPU, which node. */
#ifndef _LINUX_TOPOLOGY_H
#define _LINUX_TOPOLOGY_H

#include <linux/smp.h>

extern int numa_node_id(void);
extern int cpu_to_node(int cpu);
#define numa_mem_id() numa_node_id()

#endif
