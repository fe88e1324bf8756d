// SPDX-License-Identifier: MIT OR Apache-2.0
// What is wrong with a reference count, in Linux's words, and as a finding.
#include "host.h"
#include <linux/kernel.h>
#include <linux/refcount.h>

static const char *const messages[] = {
	[KAPI_REFCOUNT_ADD_OVERFLOW] = "saturated; leaking memory",
	[KAPI_REFCOUNT_ADD_FROM_ZERO] = "addition on 0; use-after-free",
	[KAPI_REFCOUNT_UNDERFLOW] = "underflow; use-after-free",
	[KAPI_REFCOUNT_DEC_TO_ZERO] = "decrement hit 0; leaking memory",
};

/* The count stays where nothing brings it to zero again. */
void kapi_refcount_wrong(refcount_t *r, enum kapi_refcount_wrong wrong)
{
	char text[64];

	atomic_set(&r->refs, INT_MIN / 2);
	kapi_misuse(KAPI_REFERENCE, text, (size_t)scnprintf(text, sizeof(text), "refcount_t: %s", messages[wrong]),
		    kapi_module_site());
}
