/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How a device's memory is mapped: directly, which is what no operations stand for. */
#ifndef _LINUX_DMA_MAP_OPS_H
#define _LINUX_DMA_MAP_OPS_H

#include <linux/dma-mapping.h>

/* A module cannot make one. */
struct dma_map_ops;

static inline const struct dma_map_ops *get_dma_ops(struct device *dev) { return dev ? NULL : NULL; }
static inline void set_dma_ops(struct device *dev, const struct dma_map_ops *ops) { BUG_ON(!dev || ops); }

#endif
