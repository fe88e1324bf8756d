/* Hashes of a text, in one piece and in two, with a key and without; check sums of few bits. */
#include <crypto/hash.h>
#include <crypto/md5.h>
#include <crypto/sha1.h>
#include <crypto/sha2.h>
#include <crypto/skcipher.h>
#include <kunit/run-in-irq-context.h>
#include <linux/crc-ccitt.h>
#include <linux/crc-itu-t.h>
#include <linux/crc-t10dif.h>
#include <linux/crc16.h>
#include <linux/crc7.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/sysctl.h>
#include "check.h"

/* The first bytes of the hash of "abc" as FIPS 180-4 and RFC 1321 have them, and of the code with the key "Jefe" of RFC 2202
 * and RFC 4231. */
#define KNOWN(n, first, first_with_key) \
	do { \
		static const u8 text[] = "what do ya want for nothing?", key[] = "Jefe", abc[] = "abc"; \
		struct n##_ctx ctx; \
		struct hmac_##n##_ctx keyed; \
		u8 out[64]; \
		n##_init(&ctx); \
		n##_update(&ctx, abc, 1); \
		n##_update(&ctx, abc + 1, 2); \
		n##_final(&ctx, out); \
		IS(memcmp(out, first, 4), 0); \
		hmac_##n##_usingrawkey(key, 4, text, sizeof(text) - 1, out); \
		IS(memcmp(out, first_with_key, 4), 0); \
		hmac_##n##_init_usingrawkey(&keyed, key, 4); \
		hmac_##n##_update(&keyed, text, sizeof(text) - 1); \
		hmac_##n##_final(&keyed, out); \
		IS(memcmp(out, first_with_key, 4), 0); \
	} while (0)

static void hashes(void)
{
	static const u8 slab[] = "slab", slob[] = "slob";
	struct sha256_ctx behind;
	u8 one[SHA256_DIGEST_SIZE], two[SHA256_DIGEST_SIZE], whole[SHA256_DIGEST_SIZE];

	KNOWN(md5, "\x90\x01\x50\x98", "\x75\x0c\x78\x3e");
	KNOWN(sha1, "\xa9\x99\x3e\x36", "\xef\xfc\xdf\x6a");
	KNOWN(sha224, "\x23\x09\x7d\x22", "\xa3\x0e\x01\x09");
	KNOWN(sha256, "\xba\x78\x16\xbf", "\x5b\xdc\xc1\x46");
	KNOWN(sha384, "\xcb\x00\x75\x3f", "\xaf\x45\xd2\xe3");
	KNOWN(sha512, "\xdd\xaf\x35\xa1", "\x16\x4b\x7a\x7b");
	sha256_init(&behind);
	sha256_update(&behind, slab, 2);
	sha256_finup_2x(&behind, slab + 2, slob + 2, 2, one, two);
	sha256(slab, 4, whole);
	IS(memcmp(one, whole, sizeof(one)), 0);
	sha256(slob, 4, whole);
	IS(memcmp(two, whole, sizeof(two)), 0);
	IS(sha256_finup_2x_is_optimized(), false);
}

/* By name: "123456789" has the sums of the catalogue, the lowest byte first, and "abc" that of FIPS 180-4. */
static void by_name(void)
{
	struct crypto_shash *tfm = crypto_alloc_shash("sha512", 0, 0), *bits = crypto_alloc_shash("crc32c", 0, 0);
	static const u8 abc[] = "abc", digits[] = "123456789", zero[4];
	u8 out[HASH_MAX_DIGESTSIZE], state[HASH_MAX_STATESIZE];
	DECLARE_CRYPTO_WAIT(wait);

	if (!IS_ERR(tfm)) {
		SHASH_DESC_ON_STACK(desc, tfm);

		desc->tfm = tfm;
		IS(crypto_shash_init(desc), 0);
		IS(crypto_shash_update(desc, abc, 2), 0);
		IS(crypto_shash_export(desc, state), 0);
		IS(crypto_shash_update(desc, abc, 2), 0);
		IS(crypto_shash_import(desc, state), 0);
		IS(crypto_shash_finup(desc, abc + 2, 1, out), 0);
		IS(memcmp(out, "\xdd\xaf\x35\xa1", 4), 0);
		IS(crypto_shash_setkey(tfm, zero, 4), -ENOSYS);
		shash_desc_zero(desc);
	}
	crypto_free_shash(tfm);
	IS(crypto_shash_tfm_digest(bits, digits, 9, out), 0);
	IS(memcmp(out, "\x83\x92\x06\xe3", 4), 0);
	IS(crypto_shash_setkey(bits, zero, 3), -EINVAL);
	IS(crypto_shash_setkey(bits, zero, 4), 0);
	IS(crypto_shash_tfm_digest(bits, zero, 4, out), 0);
	IS(memcmp(out, "\xff\xff\xff\xff", 4), 0);
	crypto_free_shash(bits);
	IS(PTR_ERR(crypto_alloc_shash("no such hash", 0, 0)), -ENOENT);
	IS(PTR_ERR(crypto_alloc_skcipher("cbc(aes)", 0, 0)), -ENOENT);
	IS(crypto_has_shash("md5", 0, 0) - crypto_has_skcipher("cbc(aes)", 0, 0), 1);
	IS(crypto_wait_req(-EBADMSG, &wait), -EBADMSG);
}

/* Of "123456789", as the catalogue of check sums has them. */
static void sums(void)
{
	static const u8 digits[] = "123456789";

	IS(crc7_be(0, digits, 9) >> 1, 0x75);
	IS(crc16(0, digits, 9), 0xbb3d);
	IS(crc_ccitt(0, digits, 9), 0x2189);
	IS(crc_ccitt_byte(crc_ccitt(0, digits, 8), '9'), 0x2189);
	IS(crc_itu_t(0, digits, 9), 0x31c3);
	IS(crc_itu_t_byte(crc_itu_t(0, digits, 8), '9'), 0x31c3);
	IS(crc_t10dif(digits, 9), 0xd0db);
}

/* Reading one used to follow its pointer. */
static void entries_without_values(void)
{
	struct ctl_table numbers = { .maxlen = sizeof(int) }, text = { .maxlen = 8 };
	char buffer[8] = "7";
	size_t len = sizeof(buffer);
	loff_t pos = 0;

	IS(proc_dointvec(&numbers, 0, buffer, &len, &pos), 0);
	IS(len, 0);
	len = sizeof(buffer);
	IS(proc_dostring(&text, 1, buffer, &len, &pos), 0);
	IS(len, 0);
}

static int __init digests_init(void)
{
	hashes();
	sums();
	by_name();
	entries_without_values();
	return result();
}
module_init(digests_init);
MODULE_LICENSE("GPL");
