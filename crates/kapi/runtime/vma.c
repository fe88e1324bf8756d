// SPDX-License-Identifier: MIT OR Apache-2.0
// Mappings: a module's pages as a user sees them, put there when the file is mapped or when a page is touched.
#include "host.h"
#include "vma.h"
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/slab.h>

/* Where a user's mappings are: addresses that only faults are about. */
#define MAPPINGS_START 0x7f0000000000UL

static struct kapi_mapped *place(struct vm_area_struct *vma, unsigned long addr)
{
	if (addr < vma->vm_start || addr >= vma->vm_end)
		return NULL;
	return vma->kapi_pages + ((addr - vma->vm_start) >> PAGE_SHIFT);
}

static int put_there(struct vm_area_struct *vma, unsigned long addr, struct page *page, bool counted)
{
	struct kapi_mapped *at = place(vma, addr);

	if (!at)
		return -EFAULT;
	if (at->page)
		return -EBUSY;
	*at = (struct kapi_mapped){ .page = page, .counted = counted };
	return 0;
}

int remap_pfn_range(struct vm_area_struct *vma, unsigned long addr, unsigned long pfn, unsigned long size,
		    pgprot_t prot)
{
	unsigned long offset;
	int error = 0;

	if (WARN_ON(addr & ~PAGE_MASK))
		return -EINVAL;
	vma->vm_flags |= VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP;
	for (offset = 0; offset < PAGE_ALIGN(size) && !error; offset += PAGE_SIZE, pfn++)
		error = pfn_valid(pfn) ? put_there(vma, addr + offset, pfn_to_page(pfn), false) : -EINVAL;
	return error;
}

int vm_insert_page(struct vm_area_struct *vma, unsigned long addr, struct page *page)
{
	int error;

	if (!page_count(page))
		return -EINVAL;
	vma->vm_flags |= VM_MIXEDMAP;
	error = put_there(vma, addr, page, true);
	if (!error)
		get_page(page);
	return error;
}

int vm_map_pages(struct vm_area_struct *vma, struct page **pages, unsigned long count)
{
	unsigned long i, n = vma_pages(vma);
	int error = 0;

	if (vma->vm_pgoff >= count || n > count - vma->vm_pgoff)
		return -ENXIO;
	for (i = 0; i < n && !error; i++)
		error = vm_insert_page(vma, vma->vm_start + i * PAGE_SIZE, pages[vma->vm_pgoff + i]);
	return error;
}

static vm_fault_t fault_of(int error)
{
	if (error == -ENOMEM)
		return VM_FAULT_OOM;
	return error && error != -EBUSY ? VM_FAULT_SIGBUS : VM_FAULT_NOPAGE;
}

vm_fault_t vmf_insert_pfn(struct vm_area_struct *vma, unsigned long addr, unsigned long pfn)
{
	return fault_of(pfn_valid(pfn) ? put_there(vma, addr & PAGE_MASK, pfn_to_page(pfn), false) : -EINVAL);
}

vm_fault_t vmf_insert_page(struct vm_area_struct *vma, unsigned long addr, struct page *page)
{
	return fault_of(vm_insert_page(vma, addr & PAGE_MASK, page));
}

int remap_vmalloc_range(struct vm_area_struct *vma, void *addr, unsigned long pgoff)
{
	unsigned long i;
	int error = 0;

	if (!is_vmalloc_addr(addr))
		return -EINVAL;
	for (i = 0; i < vma_pages(vma) && !error; i++)
		error = vm_insert_page(vma, vma->vm_start + i * PAGE_SIZE,
				       vmalloc_to_page((char *)addr + ((pgoff + i) << PAGE_SHIFT)));
	return error;
}

int vm_iomap_memory(struct vm_area_struct *vma, phys_addr_t start, unsigned long len)
{
	unsigned long pages = PFN_UP((start & ~PAGE_MASK) + len);

	if (vma->vm_pgoff > pages || vma_pages(vma) > pages - vma->vm_pgoff)
		return -EINVAL;
	return remap_pfn_range(vma, vma->vm_start, PHYS_PFN(start) + vma->vm_pgoff, vma->vm_end - vma->vm_start,
			       vma->vm_page_prot);
}

struct vm_area_struct *kapi_mmap(struct file *file, unsigned long bytes, unsigned long offset)
{
	struct vm_area_struct *vma;
	static unsigned long start = MAPPINGS_START;
	int error;

	if (!bytes || (offset & ~PAGE_MASK))
		return ERR_PTR(-EINVAL);
	if (!file->f_op || !file->f_op->mmap)
		return ERR_PTR(-ENODEV);
	vma = kapi_alloc(sizeof(*vma));
	if (!vma)
		return ERR_PTR(-ENOMEM);
	vma->vm_start = start;
	vma->vm_end = start + PAGE_ALIGN(bytes);
	start = vma->vm_end + PAGE_SIZE;
	vma->vm_pgoff = offset >> PAGE_SHIFT;
	vma->vm_file = file;
	vma->vm_mm = current->mm;
	vma->vm_flags = VM_READ | VM_SHARED | VM_MAYREAD | VM_MAYEXEC | VM_MAYSHARE;
	if (file->f_mode & FMODE_WRITE)
		vma->vm_flags |= VM_WRITE | VM_MAYWRITE;
	vma->vm_page_prot = PAGE_SHARED;
	vma->kapi_pages = kapi_alloc(vma_pages(vma) * sizeof(*vma->kapi_pages));
	error = vma->kapi_pages ? file->f_op->mmap(file, vma) : -ENOMEM;
	if (!error)
		return vma;
	kapi_free(vma->kapi_pages, vma_pages(vma) * sizeof(*vma->kapi_pages));
	kapi_free(vma, sizeof(*vma));
	return ERR_PTR(error);
}

void kapi_munmap(struct vm_area_struct *vma)
{
	unsigned long i;

	if (vma->vm_ops && vma->vm_ops->close)
		vma->vm_ops->close(vma);
	for (i = 0; i < vma_pages(vma); i++)
		if (vma->kapi_pages[i].counted)
			put_page(vma->kapi_pages[i].page);
	kapi_free(vma->kapi_pages, vma_pages(vma) * sizeof(*vma->kapi_pages));
	kapi_free(vma, sizeof(*vma));
}

static vm_fault_t call_fault(struct vm_area_struct *vma, struct vm_fault *vmf)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(4, 11, 0)
	return vma->vm_ops->fault(vmf);
#else
	return (vm_fault_t)vma->vm_ops->fault(vma, vmf);
#endif
}

/* The page at an address, which is put there if it is not; NULL where a user would get SIGBUS. */
static struct page *touch(struct vm_area_struct *vma, unsigned long addr, bool write)
{
	struct kapi_mapped *at = place(vma, addr);
	struct vm_fault vmf = {
		.vma = vma, .flags = write ? FAULT_FLAG_WRITE : 0,
		.pgoff = vma->vm_pgoff + ((addr - vma->vm_start) >> PAGE_SHIFT),
	};
	vm_fault_t result;

	if (!at || at->page || !vma->vm_ops || !vma->vm_ops->fault)
		return at ? at->page : NULL;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(4, 10, 0)
	vmf.address = addr & PAGE_MASK;
#else
	vmf.virtual_address = (void __user *)(addr & PAGE_MASK);
#endif
	current->min_flt++;
	result = call_fault(vma, &vmf);
	if (result & VM_FAULT_ERROR)
		return NULL;
	/* The function took a reference, which the mapping keeps. */
	if (!(result & VM_FAULT_NOPAGE) && vmf.page)
		put_there(vma, addr & PAGE_MASK, vmf.page, true);
	return at->page;
}

long kapi_vma_copy(struct vm_area_struct *vma, unsigned long offset, char *buffer, size_t *n, bool write)
{
	size_t done = 0, bytes = *n;

	while (done < bytes) {
		unsigned long addr = vma->vm_start + offset + done, in_page = addr & ~PAGE_MASK;
		size_t part = min(bytes - done, PAGE_SIZE - in_page);
		struct page *page = touch(vma, addr, write);
		char *there;

		if (!page)
			break;
		there = (char *)page_address(page) + in_page;
		memcpy(write ? there : buffer + done, write ? buffer + done : there, part);
		done += part;
	}
	*n = done;
	return done ? (long)done : -EFAULT;
}
