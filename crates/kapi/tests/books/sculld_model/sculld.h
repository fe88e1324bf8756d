/* A store of pages that is a device of the bus. */
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/ioctl.h>
#include <linux/semaphore.h>
#include "lddbus.h"

#define SCULLD_IOC_MAGIC 'K'
#define SCULLD_IOCQORDER _IO(SCULLD_IOC_MAGIC, 4)

struct sculld_dev {
	void *data;
	int order;
	size_t size;
	struct semaphore sem;
	struct cdev cdev;
	char devname[20];
	struct ldd_device ldev;
};

extern int sculld_order;
ssize_t sculld_read(struct file *filp, char __user *buf, size_t count, loff_t *f_pos);
ssize_t sculld_write(struct file *filp, const char __user *buf, size_t count, loff_t *f_pos);
void sculld_trim(struct sculld_dev *dev);
