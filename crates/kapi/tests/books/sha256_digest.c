/* A digest of a text by the name of its hash, in one piece and in two, and what a kernel says without a hash or a cipher. */
#include <crypto/hash.h>
#include <crypto/skcipher.h>
#include <linux/module.h>
#include <linux/slab.h>

static char *text = "slabs and caches";
module_param(text, charp, 0444);

static int digest_of(const char *name)
{
	struct crypto_shash *tfm = crypto_alloc_shash(name, 0, 0);
	struct shash_desc *desc;
	u8 in_pieces[HASH_MAX_DIGESTSIZE], whole[HASH_MAX_DIGESTSIZE];
	unsigned int bytes;
	int error;

	if (IS_ERR(tfm)) {
		pr_info("digest: no %s: %ld\n", name, PTR_ERR(tfm));
		return 0;
	}
	bytes = crypto_shash_digestsize(tfm);
	desc = kmalloc(sizeof(*desc) + crypto_shash_descsize(tfm), GFP_KERNEL);
	if (!desc) {
		crypto_free_shash(tfm);
		return -ENOMEM;
	}
	desc->tfm = tfm;
	error = crypto_shash_init(desc);
	if (!error)
		error = crypto_shash_update(desc, (const u8 *)text, 5);
	if (!error)
		error = crypto_shash_finup(desc, (const u8 *)text + 5, strlen(text) - 5, in_pieces);
	if (!error)
		error = crypto_shash_digest(desc, (const u8 *)text, strlen(text), whole);
	pr_info("digest: %s of %u bytes, blocks of %u, the same in two pieces %d: %*phN\n", crypto_shash_alg_name(tfm), bytes,
		crypto_shash_blocksize(tfm), !memcmp(in_pieces, whole, bytes), (int)bytes, whole);
	kfree(desc);
	crypto_free_shash(tfm);
	return error;
}

static int __init digest_init(void)
{
	static const char *const names[] = { "md5", "sha1", "sha224", "sha256", "crc32c", "sha3-256" };
	struct crypto_skcipher *cipher = crypto_alloc_skcipher("cbc(aes)", 0, 0);
	int i, error = 0;

	for (i = 0; i < ARRAY_SIZE(names) && !error; i++)
		error = digest_of(names[i]);
	if (IS_ERR(cipher))
		pr_info("digest: no cipher: %ld\n", PTR_ERR(cipher));
	else
		crypto_free_skcipher(cipher);
	return error;
}

static void __exit digest_exit(void)
{
}

module_init(digest_init);
module_exit(digest_exit);
MODULE_LICENSE("GPL");
