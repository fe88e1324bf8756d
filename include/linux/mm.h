/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Pages, their numbers and addresses; how much memory there is. */
#ifndef _LINUX_MM_H
#define _LINUX_MM_H

#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/list.h>
#include <linux/mmzone.h>
#include <linux/mm_types.h>
#include <linux/mmdebug.h>
#include <linux/overflow.h>
#include <linux/rcupdate.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <asm/page.h>

/* What a mapping of a user may do, and of what kind it is. */
#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define PROT_EXEC 4
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_FIXED 16
#define MAP_ANONYMOUS 32

extern unsigned long max_mapnr;
extern unsigned long max_pfn;
extern unsigned long num_physpages;
extern void *high_memory;

#define pfn_to_page(pfn) (mem_map + (pfn))
#define page_to_pfn(page) ((unsigned long)((page) - mem_map))
#define virt_to_page(addr) pfn_to_page(virt_to_pfn(addr))
#define page_to_virt(page) pfn_to_virt(page_to_pfn(page))
#define page_to_phys(page) PFN_PHYS(page_to_pfn(page))
#define page_address(page) page_to_virt(page)
#define lowmem_page_address(page) page_address(page)
#define pfn_valid(pfn) ((pfn) < max_pfn)
#define nth_page(page, n) ((page) + (n))
#define page_to_nid(page) ((void)(page), 0)

/* Of blocks that were allocated with __GFP_COMP. */
#define PageHead(page) (((page)->kapi_place & KAPI_PAGE_HEAD) != 0)
#define PageTail(page) (((page)->kapi_place & KAPI_PAGE_TAIL) != 0)
#define PageCompound(page) (((page)->kapi_place & (KAPI_PAGE_HEAD | KAPI_PAGE_TAIL)) != 0)
static inline struct page *compound_head(const struct page *page)
{
	return (struct page *)page - (PageTail(page) ? (unsigned int)page->kapi_place : 0);
}
static inline unsigned int compound_order(const struct page *page)
{
	return PageHead(page) ? (unsigned int)page->kapi_place : 0;
}
static inline unsigned long compound_nr(const struct page *page) { return 1UL << compound_order(page); }
static inline unsigned long page_size(const struct page *page) { return PAGE_SIZE << compound_order(page); }
static inline unsigned int page_shift(const struct page *page) { return PAGE_SHIFT + compound_order(page); }
#define virt_to_head_page(addr) compound_head(virt_to_page(addr))

static inline int page_count(const struct page *page) { return atomic_read(&compound_head(page)->_refcount); }
static inline int page_ref_count(const struct page *page) { return atomic_read(&page->_refcount); }
#define page_ref_add(page, n) atomic_add(n, &(page)->_refcount)
#define page_ref_sub(page, n) atomic_sub(n, &(page)->_refcount)
#define page_ref_inc(page) atomic_inc(&(page)->_refcount)
#define page_ref_dec(page) atomic_dec(&(page)->_refcount)
#define set_page_count(page, n) atomic_set(&(page)->_refcount, n)

static inline void get_page(struct page *page) { atomic_inc(&compound_head(page)->_refcount); }
static inline struct page *try_get_page(struct page *page)
{
	return atomic_inc_not_zero(&compound_head(page)->_refcount) ? page : NULL;
}

extern void put_page(struct page *page);
/* Makes a block of pages blocks of one, each to be freed by itself. */
extern void split_page(struct page *page, unsigned int order);
#define page_cache_get(page) get_page(page)
#define page_cache_release(page) put_page(page)

#define page_private(page) ((page)->private)
#define set_page_private(page, value) ((page)->private = (value))

enum pageflags {
	PG_locked,
	PG_referenced,
	PG_uptodate,
	PG_dirty,
	PG_lru,
	PG_active,
	PG_slab,
	PG_reserved,
	PG_private
};
#define __KAPI_PAGE_FLAG(Name, flag) \
	static inline int Page##Name(const struct page *page) { return test_bit(flag, &page->flags); } \
	static inline void SetPage##Name(struct page *page) { set_bit(flag, &page->flags); } \
	static inline void ClearPage##Name(struct page *page) { clear_bit(flag, &page->flags); }
__KAPI_PAGE_FLAG(Locked, PG_locked)
__KAPI_PAGE_FLAG(Referenced, PG_referenced)
__KAPI_PAGE_FLAG(Uptodate, PG_uptodate)
__KAPI_PAGE_FLAG(Dirty, PG_dirty)
__KAPI_PAGE_FLAG(Reserved, PG_reserved)
__KAPI_PAGE_FLAG(Private, PG_private)
#define mem_map_reserve(page) SetPageReserved(page)
#define mem_map_unreserve(page) ClearPageReserved(page)

struct sysinfo {
	long uptime;
	unsigned long loads[3];
	unsigned long totalram;
	unsigned long freeram;
	unsigned long sharedram;
	unsigned long bufferram;
	unsigned long totalswap;
	unsigned long freeswap;
	unsigned short procs;
	unsigned short pad;
	unsigned long totalhigh;
	unsigned long freehigh;
	unsigned int mem_unit;
};
extern void si_meminfo(struct sysinfo *info);
/* Pages that an allocation could get. */
extern long si_mem_available(void);
extern unsigned long nr_free_pages(void);

/* A function since 5.0; the variable of before has the same name. */
extern unsigned long totalram_pages;
#define totalram_pages() totalram_pages
#define totalhigh_pages() 0UL

extern void *kvmalloc(size_t size, gfp_t gfp);
extern void kvfree(const void *p);

#define untagged_addr(addr) (addr)
#define VM_NONE 0x00000000
#define VM_READ 0x00000001
#define VM_WRITE 0x00000002
#define VM_EXEC 0x00000004
#define VM_SHARED 0x00000008
#define VM_MAYREAD 0x00000010
#define VM_MAYWRITE 0x00000020
#define VM_MAYEXEC 0x00000040
#define VM_MAYSHARE 0x00000080
#define VM_PFNMAP 0x00000400
#define VM_LOCKED 0x00002000
#define VM_IO 0x00004000
#define VM_DONTCOPY 0x00020000
#define VM_DONTEXPAND 0x00040000
#define VM_RESERVED 0x00080000
#define VM_DONTDUMP 0x04000000
#define VM_MIXEDMAP 0x10000000

#define VM_FAULT_OOM 0x0001
#define VM_FAULT_SIGBUS 0x0002
#define VM_FAULT_MAJOR 0x0004
#define VM_FAULT_SIGSEGV 0x0040
#define VM_FAULT_NOPAGE 0x0100
#define VM_FAULT_LOCKED 0x0200
#define VM_FAULT_RETRY 0x0400
#define VM_FAULT_ERROR (VM_FAULT_OOM | VM_FAULT_SIGBUS | VM_FAULT_SIGSEGV)
#define FAULT_FLAG_WRITE 0x01
typedef unsigned int vm_fault_t;
typedef unsigned long vm_flags_t;

/* A part of a user's addresses, which shows pages of the module: a page for each, as it was put there. */
struct vm_area_struct {
	unsigned long vm_start, vm_end;
	struct mm_struct *vm_mm;
	pgprot_t vm_page_prot;
	unsigned long vm_flags;
	const struct vm_operations_struct *vm_ops;
	unsigned long vm_pgoff;
	struct file *vm_file;
	void *vm_private_data;
	struct kapi_mapped {
		struct page *page;
		bool counted;
	} *kapi_pages;
};

struct vm_fault {
	struct vm_area_struct *vma;
	unsigned int flags;
	pgoff_t pgoff;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(4, 10, 0)
	unsigned long address;
#else
	void __user *virtual_address;
#endif
	struct page *page;
	void *pmd;
};

struct vm_operations_struct {
	void (*open)(struct vm_area_struct *vma);
	void (*close)(struct vm_area_struct *vma);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(4, 11, 0)
	vm_fault_t (*fault)(struct vm_fault *vmf);
	vm_fault_t (*page_mkwrite)(struct vm_fault *vmf);
#else
	int (*fault)(struct vm_area_struct *vma, struct vm_fault *vmf);
	int (*page_mkwrite)(struct vm_area_struct *vma, struct vm_fault *vmf);
#endif
	int (*access)(struct vm_area_struct *vma, unsigned long addr, void *buf, int len, int write);
	const char *(*name)(struct vm_area_struct *vma);
};

extern int remap_pfn_range(struct vm_area_struct *vma, unsigned long addr, unsigned long pfn, unsigned long size,
			   pgprot_t prot);
extern int vm_insert_page(struct vm_area_struct *vma, unsigned long addr, struct page *page);
extern int vm_map_pages(struct vm_area_struct *vma, struct page **pages, unsigned long count);
extern vm_fault_t vmf_insert_pfn(struct vm_area_struct *vma, unsigned long addr, unsigned long pfn);
extern vm_fault_t vmf_insert_page(struct vm_area_struct *vma, unsigned long addr, struct page *page);
extern int remap_vmalloc_range(struct vm_area_struct *vma, void *addr, unsigned long pgoff);
extern int vm_iomap_memory(struct vm_area_struct *vma, phys_addr_t start, unsigned long len);
#define io_remap_pfn_range(vma, addr, pfn, size, prot) remap_pfn_range(vma, addr, pfn, size, prot)

static inline unsigned long vma_pages(const struct vm_area_struct *vma)
{
	return (vma->vm_end - vma->vm_start) >> PAGE_SHIFT;
}
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags) { vma->vm_flags |= flags; }
static inline void vm_flags_clear(struct vm_area_struct *vma, vm_flags_t flags) { vma->vm_flags &= ~flags; }
static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}

/* Memory of one kind: a mapping is as the machine's own. */
static inline pgprot_t pgprot_noncached(pgprot_t prot) { return prot; }
static inline pgprot_t pgprot_writecombine(pgprot_t prot) { return prot; }
static inline pgprot_t pgprot_device(pgprot_t prot) { return prot; }
static inline unsigned long pgprot_val(pgprot_t prot) { return prot.pgprot; }
#define PAGE_SHARED __pgprot(0x067)

/* The memory of a process: only insmod has some, of the size that the host's process has. */
extern unsigned long get_mm_rss(struct mm_struct *mm);
extern struct mm_struct *get_task_mm(struct task_struct *task);
extern void mmput(struct mm_struct *mm);
static inline void mmap_read_lock(struct mm_struct *mm) { down_read(&mm->mmap_lock); }
static inline void mmap_read_unlock(struct mm_struct *mm) { up_read(&mm->mmap_lock); }
static inline void mmap_write_lock(struct mm_struct *mm) { down_write(&mm->mmap_lock); }
static inline void mmap_write_unlock(struct mm_struct *mm) { up_write(&mm->mmap_lock); }

#endif
