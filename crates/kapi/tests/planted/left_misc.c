// left behind: the misc device `planted` is still there
#include <linux/module.h>
#include <linux/miscdevice.h>
#include <linux/fs.h>

static const struct file_operations ops = { .owner = THIS_MODULE };
static struct miscdevice misc = { .minor = MISC_DYNAMIC_MINOR, .name = "planted", .fops = &ops };

static int __init begin(void)
{
	return misc_register(&misc); // in
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
