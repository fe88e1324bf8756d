/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What goes with a device: freed, the last first, when its driver leaves it or the device is released.
 */
#ifndef _LINUX_DEVICE_DEVRES_H
#define _LINUX_DEVICE_DEVRES_H

#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/overflow.h>
#include <linux/stdarg.h>
#include <linux/types.h>

struct device;

typedef void (*dr_release_t)(struct device *dev, void *res);
typedef int (*dr_match_t)(struct device *dev, void *res, void *match_data);

extern void *__devres_alloc_node(dr_release_t release, size_t size, gfp_t gfp, int node, const char *name);
#define devres_alloc(release, size, gfp) __devres_alloc_node(release, size, gfp, NUMA_NO_NODE, #release)
#define devres_alloc_node(release, size, gfp, node) __devres_alloc_node(release, size, gfp, node, #release)
extern void devres_free(void *res);
extern void devres_add(struct device *dev, void *res);
extern void *devres_find(struct device *dev, dr_release_t release, dr_match_t match, void *match_data);
extern void *devres_get(struct device *dev, void *new_res, dr_match_t match, void *match_data);
extern void *devres_remove(struct device *dev, dr_release_t release, dr_match_t match, void *match_data);
extern int devres_destroy(struct device *dev, dr_release_t release, dr_match_t match, void *match_data);
extern int devres_release(struct device *dev, dr_release_t release, dr_match_t match, void *match_data);
extern int devres_release_all(struct device *dev);
extern void *devres_open_group(struct device *dev, void *id, gfp_t gfp);
extern void devres_close_group(struct device *dev, void *id);
extern void devres_remove_group(struct device *dev, void *id);
extern int devres_release_group(struct device *dev, void *id);

extern int devm_add_action(struct device *dev, void (*action)(void *data), void *data);
extern int devm_add_action_or_reset(struct device *dev, void (*action)(void *data), void *data);
extern void devm_remove_action(struct device *dev, void (*action)(void *data), void *data);
extern void devm_release_action(struct device *dev, void (*action)(void *data), void *data);

extern void *devm_kmalloc(struct device *dev, size_t size, gfp_t gfp);
extern void *devm_krealloc(struct device *dev, void *p, size_t size, gfp_t gfp);
extern void devm_kfree(struct device *dev, const void *p);
extern char *devm_kstrdup(struct device *dev, const char *s, gfp_t gfp);
extern char *devm_kvasprintf(struct device *dev, gfp_t gfp, const char *fmt, va_list args);
extern char *devm_kasprintf(struct device *dev, gfp_t gfp, const char *fmt, ...) __printf(3, 4);
extern void *devm_kmemdup(struct device *dev, const void *src, size_t size, gfp_t gfp);
extern unsigned long devm_get_free_pages(struct device *dev, gfp_t gfp, unsigned int order);
extern void devm_free_pages(struct device *dev, unsigned long addr);
extern void *__devm_alloc_percpu(struct device *dev, size_t size, size_t align);
#define devm_alloc_percpu(dev, type) ((typeof(type) *)__devm_alloc_percpu(dev, sizeof(type), __alignof__(type)))
#define devm_kzalloc(dev, size, gfp) devm_kmalloc(dev, size, (gfp) | __GFP_ZERO)
#define devm_kmalloc_array(dev, n, size, gfp) devm_kmalloc(dev, size_mul(n, size), gfp)
#define devm_kcalloc(dev, n, size, gfp) devm_kmalloc_array(dev, n, size, (gfp) | __GFP_ZERO)
#define devm_krealloc_array(dev, p, n, size, gfp) devm_krealloc(dev, p, size_mul(n, size), gfp)
#define devm_kmemdup_array(dev, src, n, size, gfp) devm_kmemdup(dev, src, size_mul(n, size), gfp)
/* No text is in memory that could not be written. */
#define devm_kstrdup_const(dev, s, gfp) devm_kstrdup(dev, s, gfp)

#endif
