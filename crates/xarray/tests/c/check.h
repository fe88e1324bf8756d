/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tells what is not so, and goes on. */

int printf(const char *fmt, ...);

static int failed;

#define CHECK(x)								\
	do {									\
		if (!(x)) {							\
			printf("%s:%d: %s\n", __FILE__, __LINE__, #x);		\
			failed++;						\
		}								\
	} while (0)
