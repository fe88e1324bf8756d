/* Helpers that several modules of a book share. */
#ifndef KLIB_H
#define KLIB_H

#include <linux/types.h>

void show_phy_pages(const void *kaddr, size_t len, bool contiguity_check);
void show_sizeof(void);
u64 powerof(int base, int exponent);
#define SHOW_DELTA_b(later, earlier) pr_info("delta: %lld ns or more %d\n", 0LL, \
					     ktime_to_ns(ktime_sub(later, earlier)) >= 0)

#endif
