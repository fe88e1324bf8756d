// Nothing is wrong here: sizes of kmalloc.
#include <linux/module.h>
#include <linux/slab.h>

static int __init begin(void)
{
	static const size_t sizes[] = { 1, 8, 31, 100, 128, 1000, 4096, 5000, 8192, 20000, 1 << 20 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		char *p = kmalloc(sizes[i], GFP_KERNEL);

		if (!p)
			return -ENOMEM;
		memset(p, 0x11, sizes[i]);
		memset(p, 0x22, ksize(p));
		kfree(p);
	}
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
