/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Mappings of files, for those who use them for the host. Not for modules. */
#ifndef _VMA_H
#define _VMA_H

#include <linux/mm.h>

extern struct vm_area_struct *kapi_mmap(struct file *file, unsigned long bytes, unsigned long offset);
extern void kapi_munmap(struct vm_area_struct *vma);
/* Copies *@n bytes from or to what is mapped at @offset; *@n becomes what was copied. */
extern long kapi_vma_copy(struct vm_area_struct *vma, unsigned long offset, char *buffer, size_t *n, bool write);

#endif
