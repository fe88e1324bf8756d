/* The macro that makes a module of a character device. */
#include <linux/miscdevice.h>
#include <linux/module.h>

static const struct file_operations fops = { .owner = THIS_MODULE };
static struct miscdevice device = { .minor = MISC_DYNAMIC_MINOR, .name = "every", .fops = &fops };
module_misc_device(device);
MODULE_LICENSE("GPL");
