// SPDX-License-Identifier: MIT OR Apache-2.0
// Memory as hexadecimal text.
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/string.h>

const char hex_asc[] = "0123456789abcdef";
const char hex_asc_upper[] = "0123456789ABCDEF";

int hex_to_bin(unsigned char c)
{
	if (isdigit(c))
		return c - '0';
	return isxdigit(c) ? tolower(c) - 'a' + 10 : -1;
}

int hex2bin(u8 *to, const char *from, size_t count)
{
	for (; count--; from += 2) {
		int high = hex_to_bin((unsigned char)from[0]);
		int low = high < 0 ? -1 : hex_to_bin((unsigned char)from[1]);

		if (low < 0)
			return -EINVAL;
		*to++ = (u8)(high << 4 | low);
	}
	return 0;
}

char *bin2hex(char *to, const void *from, size_t count)
{
	const u8 *bytes = from;

	while (count--) {
		*to++ = hex_asc[*bytes >> 4];
		*to++ = hex_asc[*bytes++ & 15];
	}
	return to;
}

/* A row as groups of @groupsize bytes in the machine's order; cut like snprintf() when it is too long. */
int hex_dump_to_buffer(const void *buf, size_t len, int rowsize, int groupsize, char *line, size_t size, bool ascii)
{
	const u8 *bytes = buf;
	char whole[32 * 3 + 32 + 4];
	size_t at = 0, i, column;

	if (rowsize != 16 && rowsize != 32)
		rowsize = 16;
	len = min(len, (size_t)rowsize);
	if (groupsize < 1 || groupsize > 8 || !is_power_of_2((unsigned long)groupsize) || len % (size_t)groupsize)
		groupsize = 1;
	column = (size_t)(rowsize * 2 + rowsize / groupsize + 1);
	for (i = 0; i < len; i++) {
		u8 byte = bytes[i ^ ((size_t)groupsize - 1)];

		if (i && i % (size_t)groupsize == 0)
			whole[at++] = ' ';
		whole[at++] = hex_asc[byte >> 4];
		whole[at++] = hex_asc[byte & 15];
	}
	if (ascii && len) {
		while (at < column)
			whole[at++] = ' ';
		for (i = 0; i < len; i++)
			whole[at++] = isascii(bytes[i]) && isprint(bytes[i]) ? (char)bytes[i] : '.';
	}
	if (size) {
		i = min(at, size - 1);
		memcpy(line, whole, i);
		line[i] = '\0';
	}
	return (int)at;
}

void print_hex_dump(const char *level, const char *prefix, int prefix_type, int rowsize,
		    int groupsize, const void *buf, size_t len, bool ascii)
{
	const u8 *bytes = buf;
	char line[32 * 3 + 32 + 4];
	size_t row;

	if (rowsize != 16 && rowsize != 32)
		rowsize = 16;
	for (row = 0; row < len; row += (size_t)rowsize) {
		hex_dump_to_buffer(bytes + row, len - row, rowsize, groupsize, line, sizeof(line), ascii);
		if (prefix_type == DUMP_PREFIX_ADDRESS)
			printk("%s%s%px: %s\n", level, prefix, bytes + row, line);
		else if (prefix_type == DUMP_PREFIX_OFFSET)
			printk("%s%s%.8zx: %s\n", level, prefix, row, line);
		else
			printk("%s%s%s\n", level, prefix, line);
	}
}
