/* Virtually contiguous memory as a device: mapped page by page as it is touched, or all at once by a second minor. */
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/vmalloc.h>

#define AREA_SIZE (3 * PAGE_SIZE)
static dev_t first;
static struct cdev cdev;
static struct class *scullv_class;
static char *area;
static DEFINE_MUTEX(lock);
static atomic_t mapped = ATOMIC_INIT(0);

static void area_open(struct vm_area_struct *vma)
{
	atomic_inc(&mapped);
}

static void area_close(struct vm_area_struct *vma)
{
	atomic_dec(&mapped);
}

static vm_fault_t area_fault(struct vm_fault *vmf)
{
	unsigned long offset = vmf->pgoff << PAGE_SHIFT;
	char *at;

	if (offset >= AREA_SIZE)
		return VM_FAULT_SIGBUS;
	at = (char *)vmf->vma->vm_private_data + offset;
	vmf->page = vmalloc_to_page(at);
	get_page(vmf->page);
	pr_info("fault of page %lu, in vmalloc %d, same frame %d\n", vmf->pgoff, is_vmalloc_addr(at),
		vmalloc_to_pfn(at) == page_to_pfn(vmf->page));
	return 0;
}

static const struct vm_operations_struct area_vm_ops = {
	.open = area_open,
	.close = area_close,
	.fault = area_fault,
};

static int area_mmap(struct file *filp, struct vm_area_struct *vma)
{
	if (iminor(file_inode(filp)) == 1)
		return remap_vmalloc_range(vma, area, vma->vm_pgoff);
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	vma->vm_flags |= VM_DONTEXPAND | VM_DONTDUMP;
#else
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
#endif
	vma->vm_private_data = area;
	vma->vm_ops = &area_vm_ops;
	area_open(vma);
	return 0;
}

static ssize_t area_read(struct file *filp, char __user *buf, size_t count, loff_t *pos)
{
	ssize_t n;

	mutex_lock(&lock);
	n = simple_read_from_buffer(buf, count, pos, area, AREA_SIZE);
	mutex_unlock(&lock);
	return n;
}

static ssize_t area_write(struct file *filp, const char __user *buf, size_t count, loff_t *pos)
{
	ssize_t n;

	mutex_lock(&lock);
	n = simple_write_to_buffer(area, AREA_SIZE, pos, buf, count);
	mutex_unlock(&lock);
	return n;
}

static loff_t area_llseek(struct file *filp, loff_t off, int whence)
{
	return fixed_size_llseek(filp, off, whence, AREA_SIZE);
}

static const struct file_operations area_fops = {
	.owner = THIS_MODULE,
	.llseek = area_llseek,
	.read = area_read,
	.write = area_write,
	.mmap = area_mmap,
};

static ssize_t mapped_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&mapped));
}

static DEVICE_ATTR_RO(mapped);
static struct attribute *area_attrs[] = { &dev_attr_mapped.attr, NULL };
ATTRIBUTE_GROUPS(area);

static int __init area_init(void)
{
	int i, result = alloc_chrdev_region(&first, 0, 2, "scullv");

	if (result < 0)
		return result;
	area = vmalloc_user(AREA_SIZE);
	if (!area)
		return -ENOMEM;
	cdev_init(&cdev, &area_fops);
	result = cdev_add(&cdev, first, 2);
	if (result)
		return result;
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
	scullv_class = class_create(THIS_MODULE, "scullv");
#else
	scullv_class = class_create("scullv");
#endif
	if (IS_ERR(scullv_class))
		return PTR_ERR(scullv_class);
	for (i = 0; i < 2; i++)
		if (IS_ERR(device_create_with_groups(scullv_class, NULL, first + i, NULL, area_groups, "scullv%d", i)))
			pr_err("no device\n");
	return 0;
}

static void __exit area_exit(void)
{
	int i;

	for (i = 0; i < 2; i++)
		device_destroy(scullv_class, first + i);
	class_destroy(scullv_class);
	cdev_del(&cdev);
	vfree(area);
	unregister_chrdev_region(first, 2);
}

module_init(area_init);
module_exit(area_exit);
MODULE_LICENSE("Dual BSD/GPL");
