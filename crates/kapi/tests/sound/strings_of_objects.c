// Nothing is wrong here: strings of objects.
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

static int __init begin(void)
{
	char *a = kstrdup("abc", GFP_KERNEL), *b = kasprintf(GFP_KERNEL, "%s-%s", a, "def");
	char *c = kmemdup("xyz", 4, GFP_KERNEL);

	pr_info("%s %s %.2s\n", a, b, c);
	kfree(a);
	kfree_sensitive(b);
	kfree_const(c);
	kfree_const(kstrdup_const("constant", GFP_KERNEL));
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
