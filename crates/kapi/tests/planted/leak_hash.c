// bytes in 1 blocks are live after exit
#include <crypto/hash.h>
#include <linux/module.h>

static int __init begin(void)
{
	struct crypto_shash *tfm = crypto_alloc_shash("sha256", 0, 0); // allocated by
	u8 sum[HASH_MAX_DIGESTSIZE];

	return IS_ERR(tfm) ? PTR_ERR(tfm) : crypto_shash_tfm_digest(tfm, "abc", 3, sum);
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
