/* Pages of a device in a user's addresses: put there one by one when they are touched, or all at once. */
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#define PAGES 3
static unsigned long pages[PAGES];
static char *area;
static int maps;

static void map_opened(struct vm_area_struct *vma)
{
	maps++;
}

static void map_closed(struct vm_area_struct *vma)
{
	maps--;
	pr_info("unmapped, %d left\n", maps);
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(4, 11, 0)
static vm_fault_t map_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
#else
static int map_fault(struct vm_area_struct *vma, struct vm_fault *vmf)
{
#endif
	struct page *page;

	if (vmf->pgoff >= PAGES || vma->vm_private_data != pages)
		return VM_FAULT_SIGBUS;
	page = virt_to_page((void *)pages[vmf->pgoff]);
	get_page(page);
	vmf->page = page;
	pr_info("page %lu is touched\n", (unsigned long)vmf->pgoff);
	return 0;
}

static const struct vm_operations_struct map_vm_ops = {
	.open = map_opened,
	.close = map_closed,
	.fault = map_fault,
};

static int touched_mmap(struct file *filp, struct vm_area_struct *vma)
{
	vma->vm_ops = &map_vm_ops;
	vma->vm_private_data = pages;
	map_opened(vma);
	return 0;
}

static int whole_mmap(struct file *filp, struct vm_area_struct *vma)
{
	unsigned long size = vma->vm_end - vma->vm_start;

	if (size > PAGE_SIZE)
		return -EINVAL;
	vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	return remap_pfn_range(vma, vma->vm_start, virt_to_phys((void *)pages[0]) >> PAGE_SHIFT, size,
			       vma->vm_page_prot);
}

static int area_mmap(struct file *filp, struct vm_area_struct *vma)
{
	return remap_vmalloc_range(vma, area, vma->vm_pgoff);
}

static const struct file_operations fops[] = {
	{ .owner = THIS_MODULE, .mmap = touched_mmap },
	{ .owner = THIS_MODULE, .mmap = whole_mmap },
	{ .owner = THIS_MODULE, .mmap = area_mmap },
};
static struct miscdevice devices[] = {
	{ .minor = MISC_DYNAMIC_MINOR, .name = "touched", .fops = &fops[0] },
	{ .minor = MISC_DYNAMIC_MINOR, .name = "whole", .fops = &fops[1] },
	{ .minor = MISC_DYNAMIC_MINOR, .name = "area", .fops = &fops[2] },
};

static int __init map_init(void)
{
	int i, result = 0;

	for (i = 0; i < PAGES; i++) {
		pages[i] = get_zeroed_page(GFP_KERNEL);
		if (!pages[i])
			return -ENOMEM;
		sprintf((char *)pages[i], "page %d", i);
	}
	area = vmalloc_user(2 * PAGE_SIZE);
	if (!area)
		return -ENOMEM;
	strcpy(area + PAGE_SIZE, "second");
	for (i = 0; i < ARRAY_SIZE(devices) && !result; i++)
		result = misc_register(&devices[i]);
	return result;
}

static void __exit map_exit(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(devices); i++)
		misc_deregister(&devices[i]);
	pr_info("first page says %s, %d references\n", (char *)pages[0], page_count(virt_to_page(pages[0])));
	for (i = 0; i < PAGES; i++)
		free_page(pages[i]);
	vfree(area);
}
module_init(map_init);
module_exit(map_exit);
MODULE_LICENSE("GPL");
