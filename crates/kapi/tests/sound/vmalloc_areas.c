// Nothing is wrong here: vmalloc areas.
#include <linux/module.h>
#include <linux/vmalloc.h>
#include <linux/mm.h>
#include <linux/slab.h>

static int __init begin(void)
{
	char *area = vmalloc(100000), *zeroed = vzalloc(5000), *either = kvmalloc(300000, GFP_KERNEL);

	if (!area || !zeroed || !either)
		return -ENOMEM;
	memset(area, 1, 100000);
	memset(either, 1, 300000);
	vfree(area);
	vfree(zeroed);
	kvfree(either);
	vfree(NULL);
	kfree(NULL);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
