/* Frames of the machine in a process: put there by a range, one by one, or found when they are touched. */
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kdev_t.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <linux/version.h>
#include <asm/page.h>

static int simple_major;
module_param(simple_major, int, 0);
static struct cdev devices[3];
static unsigned long block;

static void simple_vma_open(struct vm_area_struct *vma)
{
	printk(KERN_NOTICE "VMA open, %lu pages at offset %lx\n", vma_pages(vma), vma->vm_pgoff << PAGE_SHIFT);
}

static void simple_vma_close(struct vm_area_struct *vma)
{
	printk(KERN_NOTICE "VMA close.\n");
}

static struct vm_operations_struct remap_vm_ops = { .open = simple_vma_open, .close = simple_vma_close };

static int remap_mmap(struct file *filp, struct vm_area_struct *vma)
{
	unsigned long pfn = (virt_to_phys((void *)block) >> PAGE_SHIFT) + vma->vm_pgoff;

	if (vma->vm_end - vma->vm_start > (PAGE_SIZE << 1) - (vma->vm_pgoff << PAGE_SHIFT))
		return -EINVAL;
	if (remap_pfn_range(vma, vma->vm_start, pfn, vma->vm_end - vma->vm_start, vma->vm_page_prot))
		return -EAGAIN;
	vma->vm_ops = &remap_vm_ops;
	simple_vma_open(vma);
	return 0;
}

static vm_fault_t simple_fault(struct vm_fault *vmf)
{
	unsigned long physaddr = __pa(block) + (vmf->pgoff << PAGE_SHIFT), frame = physaddr >> PAGE_SHIFT;

	if (vmf->pgoff > 1 || !pfn_valid(frame))
		return VM_FAULT_SIGBUS;
	vmf->page = pfn_to_page(frame);
	get_page(vmf->page);
	printk(KERN_NOTICE "---- fault, off %lx, for writing %d\n", vmf->pgoff << PAGE_SHIFT,
	       !!(vmf->flags & FAULT_FLAG_WRITE));
	return 0;
}

static struct vm_operations_struct fault_vm_ops = {
	.open = simple_vma_open, .close = simple_vma_close, .fault = simple_fault,
};

static int fault_mmap(struct file *filp, struct vm_area_struct *vma)
{
	unsigned long offset = vma->vm_pgoff << PAGE_SHIFT;

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	if (offset >= __pa(high_memory) || (filp->f_flags & O_SYNC))
		vma->vm_flags |= VM_IO;
	vma->vm_flags |= VM_DONTDUMP;
#else
	if (offset >= __pa(high_memory) || (filp->f_flags & O_SYNC))
		vm_flags_set(vma, VM_IO);
	vm_flags_set(vma, VM_DONTDUMP);
#endif
	vma->vm_ops = &fault_vm_ops;
	simple_vma_open(vma);
	return 0;
}

static int insert_mmap(struct file *filp, struct vm_area_struct *vma)
{
	unsigned long at = vma->vm_start;
	int i, result = 0;

	for (i = 0; i < vma_pages(vma) && !result; i++, at += PAGE_SIZE)
		result = vm_insert_page(vma, at, virt_to_page((void *)(block + i * PAGE_SIZE)));
	return result;
}

static struct file_operations fops[] = {
	{ .owner = THIS_MODULE, .mmap = remap_mmap },
	{ .owner = THIS_MODULE, .mmap = fault_mmap },
	{ .owner = THIS_MODULE, .mmap = insert_mmap },
};

static int simple_init(void)
{
	dev_t dev = MKDEV(simple_major, 0);
	int i, result;

	if (simple_major)
		result = register_chrdev_region(dev, 3, "simple");
	else
		result = alloc_chrdev_region(&dev, 0, 3, "simple");
	if (result < 0)
		return result;
	simple_major = MAJOR(dev);
	block = __get_free_pages(GFP_KERNEL | __GFP_ZERO | __GFP_COMP, 1);
	if (!block) {
		unregister_chrdev_region(dev, 3);
		return -ENOMEM;
	}
	strcpy((char *)block, "first page");
	strcpy((char *)block + PAGE_SIZE, "second page");
	for (i = 0; i < 3; i++) {
		cdev_init(devices + i, fops + i);
		devices[i].owner = THIS_MODULE;
		if (cdev_add(devices + i, MKDEV(simple_major, i), 1))
			printk(KERN_NOTICE "Error adding simple%d", i);
	}
	return 0;
}

static void simple_cleanup(void)
{
	int i;

	for (i = 0; i < 3; i++)
		cdev_del(devices + i);
	free_pages(block, 1);
	unregister_chrdev_region(MKDEV(simple_major, 0), 3);
}

module_init(simple_init);
module_exit(simple_cleanup);
MODULE_LICENSE("Dual BSD/GPL");
