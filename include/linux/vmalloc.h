/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Virtually contiguous memory. */
#ifndef _LINUX_VMALLOC_H
#define _LINUX_VMALLOC_H

#include <linux/types.h>
#include <linux/gfp.h>
#include <linux/overflow.h>
#include <asm/page.h>

#define VM_IOREMAP 0x00000001UL
#define VM_ALLOC 0x00000002UL
#define VM_MAP 0x00000004UL

extern void *vmalloc(unsigned long size);
extern void *vzalloc(unsigned long size);
extern void *vmalloc_user(unsigned long size);
extern void *vmalloc_node(unsigned long size, int node);
extern void *vzalloc_node(unsigned long size, int node);
extern void *vmalloc_32(unsigned long size);
extern void *kapi_vmalloc(unsigned long size, gfp_t gfp);
extern void *kapi_vmalloc_aligned(unsigned long size, unsigned long align, gfp_t gfp);
extern void *vmap(struct page **pages, unsigned int count, unsigned long flags, pgprot_t prot);
extern void vunmap(const void *addr);
extern void *vm_map_ram(struct page **pages, unsigned int count, int node);
extern void vm_unmap_ram(const void *addr, unsigned int count);
extern void vfree(const void *addr);
extern void vfree_atomic(const void *addr);
extern bool is_vmalloc_addr(const void *addr);
extern struct page *vmalloc_to_page(const void *addr);
extern unsigned long vmalloc_to_pfn(const void *addr);
/* Grown and shrunk where it is as far as its pages go. Return: NULL for no bytes, @p is freed then. */
extern void *vrealloc(const void *p, size_t size, gfp_t gfp);
/* The third argument, page protection, is gone since 5.8. */
#define __vmalloc_node(size, align, gfp, node, caller) kapi_vmalloc_aligned(size, align, gfp)
#define __vmalloc(size, gfp, ...) kapi_vmalloc(size, gfp)
/* There are no huge pages that an area could have. */
#define vmalloc_huge(size, gfp) kapi_vmalloc(size, gfp)
#define vmalloc_huge_node(size, gfp, node) kapi_vmalloc(size, gfp)
#define vcalloc(n, size) vzalloc(size_mul(n, size))
#define vmalloc_array(n, size) vmalloc(size_mul(n, size))

#endif
