/* kmalloc and its kin as a chapter on them begins: used, dumped, wiped, resized, duplicated, and freed though it is NULL. */
#define pr_fmt(fmt) "%s:%s(): " fmt, KBUILD_MODNAME, __func__
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

MODULE_AUTHOR("slablab");
MODULE_DESCRIPTION("the slab's functions");
MODULE_LICENSE("Dual MIT/GPL");
MODULE_VERSION("0.1");

static char *gkptr;
static struct slab_context {
	char key[16];
	u64 words[4];
	char tail[];
} *ctx;

static int __init slab_basics_init(void)
{
	char *old, *copy, *text;
	u16 *table;

	gkptr = kmalloc(1024, GFP_KERNEL);
	if (!gkptr)
		goto out_fail1;
	pr_info("actual size %zu\n", ksize(gkptr));
	memset(gkptr, 'm', 1024);
	print_hex_dump_bytes("gkptr: ", DUMP_PREFIX_OFFSET, gkptr, 32);
	ctx = kzalloc(struct_size(ctx, tail, 20), GFP_KERNEL);
	if (!ctx)
		goto out_fail2;
	pr_info("context: %zu bytes of %zu, zeroed %d\n", struct_size(ctx, tail, 20), ksize(ctx),
		memchr_inv(ctx, 0, struct_size(ctx, tail, 20)) == NULL);
	strscpy(ctx->key, "a secret that is too long", sizeof(ctx->key));
	pr_info("key \"%s\"\n", ctx->key);
	old = gkptr;
	gkptr = krealloc(gkptr, 1000, GFP_KERNEL);
	pr_info("krealloc to less: moved %d\n", old != gkptr);
	old = krealloc(gkptr, 3000, GFP_KERNEL);
	if (!old)
		goto out_fail3;
	gkptr = old;
	pr_info("to more: %zu, kept %d\n", ksize(gkptr), gkptr[0] == 'm' && gkptr[999] == 'm');
	table = kcalloc(100, sizeof(*table), GFP_KERNEL);
	copy = kmemdup(ctx, sizeof(*ctx), GFP_KERNEL);
	text = kasprintf(GFP_KERNEL, "%s-%d", "slab", 1);
	if (table && copy && text)
		pr_info("table %zu, copy same %d, text %s\n", ksize(table), !memcmp(copy, ctx, sizeof(*ctx)), text);
	pr_info("overflow is refused: %d %d\n", kmalloc_array(SIZE_MAX / 2, 4, GFP_KERNEL | __GFP_NOWARN) == NULL,
		kcalloc(SIZE_MAX, 2, GFP_KERNEL | __GFP_NOWARN) == NULL);
	pr_info("zero bytes: %d\n", kmalloc(0, GFP_KERNEL) == ZERO_SIZE_PTR);
	kfree(ZERO_SIZE_PTR);
	kfree(NULL);
	kfree(text);
	kfree_sensitive(copy);
	kfree(table);
	return 0;
out_fail3:
	kfree(ctx);
out_fail2:
	kfree(gkptr);
out_fail1:
	return -ENOMEM;
}

static void __exit slab_basics_exit(void)
{
	kfree_sensitive(ctx);
	kfree(gkptr);
	pr_info("freed slab memory, removed\n");
}

module_init(slab_basics_init);
module_exit(slab_basics_exit);
