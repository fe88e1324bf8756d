/* Quanta of whole pages that a process can map: each page comes when it is touched, and nothing is trimmed while it is mapped. */
#include <linux/cdev.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/semaphore.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <asm/pgtable.h>

struct scullp_dev {
	void *data[3];
	int vmas;
	int order;
	size_t size;
	struct semaphore sem;
	struct cdev cdev;
};

static int scullp_major;
static int scullp_order;
module_param(scullp_major, int, 0);
module_param(scullp_order, int, 0);
static struct scullp_dev *scullp_device;

static int scullp_trim(struct scullp_dev *dev)
{
	int i;

	if (dev->vmas)
		return -EBUSY;
	for (i = 0; i < ARRAY_SIZE(dev->data); i++) {
		if (dev->data[i])
			free_pages((unsigned long)dev->data[i], dev->order);
		dev->data[i] = NULL;
	}
	dev->size = 0;
	return 0;
}

static int scullp_open(struct inode *inode, struct file *filp)
{
	struct scullp_dev *dev = container_of(inode->i_cdev, struct scullp_dev, cdev);
	int result = 0;

	if ((filp->f_flags & O_ACCMODE) == O_WRONLY) {
		if (down_interruptible(&dev->sem))
			return -ERESTARTSYS;
		result = scullp_trim(dev);
		up(&dev->sem);
	}
	filp->private_data = dev;
	return result;
}

static ssize_t scullp_read(struct file *filp, char __user *buf, size_t count, loff_t *f_pos)
{
	struct scullp_dev *dev = filp->private_data;
	size_t quantum = PAGE_SIZE << dev->order, rest = *f_pos % quantum, item = *f_pos / quantum;
	ssize_t retval = 0;

	if (down_interruptible(&dev->sem))
		return -ERESTARTSYS;
	if (*f_pos < dev->size && dev->data[item]) {
		count = min3(count, (size_t)(dev->size - *f_pos), quantum - rest);
		retval = count;
		if (copy_to_user(buf, (char *)dev->data[item] + rest, count))
			retval = -EFAULT;
		else
			*f_pos += count;
	}
	up(&dev->sem);
	return retval;
}

static ssize_t scullp_write(struct file *filp, const char __user *buf, size_t count, loff_t *f_pos)
{
	struct scullp_dev *dev = filp->private_data;
	size_t quantum = PAGE_SIZE << dev->order, rest = *f_pos % quantum, item = *f_pos / quantum;
	ssize_t retval = -ENOMEM;

	if (item >= ARRAY_SIZE(dev->data))
		return -ENOSPC;
	if (down_interruptible(&dev->sem))
		return -ERESTARTSYS;
	if (!dev->data[item]) {
		dev->data[item] = (void *)__get_free_pages(GFP_KERNEL, dev->order);
		if (!dev->data[item])
			goto out;
		memset(dev->data[item], 0, PAGE_SIZE << dev->order);
	}
	count = min(count, quantum - rest);
	retval = -EFAULT;
	if (copy_from_user((char *)dev->data[item] + rest, buf, count))
		goto out;
	*f_pos += count;
	dev->size = max_t(size_t, dev->size, *f_pos);
	retval = count;
out:
	up(&dev->sem);
	return retval;
}

static void scullp_vma_open(struct vm_area_struct *vma)
{
	struct scullp_dev *dev = vma->vm_private_data;

	dev->vmas++;
}

static void scullp_vma_close(struct vm_area_struct *vma)
{
	struct scullp_dev *dev = vma->vm_private_data;

	dev->vmas--;
}

static vm_fault_t scullp_vma_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct scullp_dev *dev = vma->vm_private_data;
	unsigned long offset = (vmf->address - vma->vm_start) + (vma->vm_pgoff << PAGE_SHIFT);
	vm_fault_t retval = VM_FAULT_SIGBUS;
	struct page *page;

	down(&dev->sem);
	if (offset < PAGE_ALIGN(dev->size) && dev->data[offset >> PAGE_SHIFT]) {
		page = virt_to_page(dev->data[offset >> PAGE_SHIFT]);
		get_page(page);
		vmf->page = page;
		retval = 0;
	}
	up(&dev->sem);
	return retval;
}

static struct vm_operations_struct scullp_vm_ops = {
	.open = scullp_vma_open,
	.close = scullp_vma_close,
	.fault = scullp_vma_fault,
};

static int scullp_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct inode *inode = file_inode(filp);

	if (container_of(inode->i_cdev, struct scullp_dev, cdev)->order)
		return -ENODEV;
	vma->vm_ops = &scullp_vm_ops;
	vma->vm_private_data = filp->private_data;
	scullp_vma_open(vma);
	return 0;
}

static struct file_operations scullp_fops = {
	.owner = THIS_MODULE,
	.llseek = default_llseek,
	.read = scullp_read,
	.write = scullp_write,
	.mmap = scullp_mmap,
	.open = scullp_open,
};

static int scullp_init(void)
{
	dev_t dev = MKDEV(scullp_major, 0);
	int result;

	if (scullp_major)
		result = register_chrdev_region(dev, 1, "scullp");
	else
		result = alloc_chrdev_region(&dev, 0, 1, "scullp");
	if (result < 0)
		return result;
	scullp_major = MAJOR(dev);
	scullp_device = kzalloc(sizeof(struct scullp_dev), GFP_KERNEL);
	if (!scullp_device) {
		unregister_chrdev_region(dev, 1);
		return -ENOMEM;
	}
	scullp_device->order = scullp_order;
	sema_init(&scullp_device->sem, 1);
	cdev_init(&scullp_device->cdev, &scullp_fops);
	scullp_device->cdev.owner = THIS_MODULE;
	return cdev_add(&scullp_device->cdev, dev, 1);
}

static void scullp_cleanup(void)
{
	cdev_del(&scullp_device->cdev);
	scullp_trim(scullp_device);
	kfree(scullp_device);
	unregister_chrdev_region(MKDEV(scullp_major, 0), 1);
}

module_init(scullp_init);
module_exit(scullp_cleanup);
MODULE_LICENSE("Dual BSD/GPL");
