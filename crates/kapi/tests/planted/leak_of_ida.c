// leak
#include <linux/module.h>
#include <linux/idr.h>

static DEFINE_IDA(numbers);

static int __init begin(void)
{
	return ida_alloc_min(&numbers, 200, GFP_KERNEL) < 0 ? -ENOMEM : 0; // allocated by
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
