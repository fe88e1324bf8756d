/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Pages and addresses. The machine's memory is one range that begins at PAGE_OFFSET. */
#ifndef _ASM_PAGE_H
#define _ASM_PAGE_H

#include <linux/types.h>
#include <linux/string.h>

#define PAGE_SHIFT 12
#define PAGE_SIZE (1UL << PAGE_SHIFT)
#define PAGE_MASK (~(PAGE_SIZE - 1))
#define PAGE_ALIGN(addr) (((addr) + PAGE_SIZE - 1) & PAGE_MASK)
#define PAGE_ALIGN_DOWN(addr) ((addr) & PAGE_MASK)
#define PAGE_ALIGNED(addr) (((unsigned long)(addr) & (PAGE_SIZE - 1)) == 0)
#define offset_in_page(p) ((unsigned long)(p) & ~PAGE_MASK)

typedef struct { unsigned long pgprot; } pgprot_t;
typedef struct { unsigned long pte; } pte_t;
typedef struct { unsigned long pmd; } pmd_t;
typedef struct { unsigned long pud; } pud_t;
typedef struct { unsigned long pgd; } pgd_t;
#define __pgprot(x) ((pgprot_t){ (x) })
#define PAGE_KERNEL __pgprot(0x163)

struct page;

/* Set by the host before init. */
extern unsigned long kapi_page_offset;
extern unsigned long kapi_vmalloc_start;
extern unsigned long kapi_vmalloc_end;
extern struct page *mem_map;

#define PAGE_OFFSET kapi_page_offset
#define VMALLOC_START kapi_vmalloc_start
#define VMALLOC_END kapi_vmalloc_end
#define TASK_SIZE 0x7ffffffff000UL
#define __pa(x) ((unsigned long)(x) - PAGE_OFFSET)
#define __va(x) ((void *)((unsigned long)(x) + PAGE_OFFSET))
#define __phys_to_pfn(x) ((unsigned long)((x) >> PAGE_SHIFT))
#define PFN_PHYS(x) ((phys_addr_t)(x) << PAGE_SHIFT)
#define PHYS_PFN(x) ((unsigned long)((x) >> PAGE_SHIFT))
#define PFN_UP(x) (((x) + PAGE_SIZE - 1) >> PAGE_SHIFT)
#define PFN_DOWN(x) ((x) >> PAGE_SHIFT)

static inline phys_addr_t virt_to_phys(const volatile void *addr) { return __pa(addr); }
static inline void *phys_to_virt(phys_addr_t addr) { return __va(addr); }
#define virt_to_bus(addr) virt_to_phys(addr)
#define bus_to_virt(addr) phys_to_virt(addr)
#define virt_to_pfn(addr) (__pa(addr) >> PAGE_SHIFT)
#define pfn_to_virt(pfn) __va((pfn) << PAGE_SHIFT)

static inline int get_order(unsigned long size)
{
	return size <= PAGE_SIZE ? 0 : 64 - __builtin_clzl((size - 1) >> PAGE_SHIFT);
}

extern bool virt_addr_valid(const volatile void *addr);
#define clear_page(page) memset((void *)(page), 0, PAGE_SIZE)
#define copy_page(to, from) memcpy((void *)(to), (void *)(from), PAGE_SIZE)

#endif
