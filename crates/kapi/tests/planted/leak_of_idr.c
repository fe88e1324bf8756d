// leak
#include <linux/module.h>
#include <linux/idr.h>

static DEFINE_IDR(numbers);
static int thing;

static int __init begin(void)
{
	return idr_alloc(&numbers, &thing, 100, 0, GFP_KERNEL) < 0 ? -ENOMEM : 0; // allocated by
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
