// left behind: the family of generic netlink `planted` is still there
#include <linux/module.h>
#include <net/genetlink.h>

static int nothing(struct sk_buff *skb, struct genl_info *info)
{
	return 0;
}

static const struct genl_small_ops ops[] = { { .cmd = 1, .doit = nothing } };
static struct genl_family family = {
	.name = "planted", .version = 1, .small_ops = ops, .n_small_ops = ARRAY_SIZE(ops), .module = THIS_MODULE,
};

static int __init begin(void)
{
	return genl_register_family(&family); // in
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
