// SPDX-License-Identifier: MIT OR Apache-2.0
// Identifiers of 128 bits: reading and making them.
#include <linux/ctype.h>
#include <linux/hex.h>
#include <linux/random.h>
#include <linux/uuid.h>

const guid_t guid_null;
const uuid_t uuid_null;

/* Where in a guid_t the text's bytes lie. */
static const u8 guid_order[UUID_SIZE] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };

bool uuid_is_valid(const char *uuid)
{
	int i;

	for (i = 0; i < UUID_STRING_LEN; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? uuid[i] != '-' : !isxdigit(uuid[i]))
			return false;
	}
	return true;
}

int uuid_parse(const char *uuid, uuid_t *u)
{
	int i;

	if (!uuid_is_valid(uuid))
		return -EINVAL;
	for (i = 0; i < UUID_SIZE; i++, uuid += 2) {
		uuid += *uuid == '-';
		u->b[i] = (u8)(hex_to_bin(uuid[0]) << 4 | hex_to_bin(uuid[1]));
	}
	return 0;
}

int guid_parse(const char *uuid, guid_t *u)
{
	uuid_t text;
	int i, error = uuid_parse(uuid, &text);

	for (i = 0; !error && i < UUID_SIZE; i++)
		u->b[guid_order[i]] = text.b[i];
	return error;
}

static void random(u8 *bytes, int version)
{
	get_random_bytes(bytes, UUID_SIZE);
	bytes[version] = (bytes[version] & 0x0f) | 0x40;
	bytes[8] = (bytes[8] & 0x3f) | 0x80;
}

void generate_random_uuid(unsigned char uuid[16]) { random(uuid, 6); }
void generate_random_guid(unsigned char guid[16]) { random(guid, 7); }
void uuid_gen(uuid_t *u) { generate_random_uuid(u->b); }
void guid_gen(guid_t *u) { generate_random_guid(u->b); }
