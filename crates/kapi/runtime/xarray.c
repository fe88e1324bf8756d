// SPDX-License-Identifier: MIT OR Apache-2.0
// Numbers and arrays whose nodes are allocated: the host's functions, which may sleep where the flags say so.
#include "host.h"
#include <linux/idr.h>
#include <linux/xarray.h>

/* Host: the functions themselves. */
extern typeof(xa_store) kapi_xa_store;
extern typeof(xa_store_range) kapi_xa_store_range;
extern typeof(idr_alloc) kapi_idr_alloc;
extern typeof(idr_alloc_u32) kapi_idr_alloc_u32;
extern typeof(idr_alloc_cyclic) kapi_idr_alloc_cyclic;
extern typeof(ida_alloc_range) kapi_ida_alloc_range;

/* The caller says by @gfp that it may sleep. */
#define may_alloc(gfp) do { \
	if ((gfp) & __GFP_DIRECT_RECLAIM) \
		kapi_may_sleep(__func__, kapi_module_site()); \
} while (0)

void *xa_store(struct xarray *xa, unsigned long index, void *entry, gfp_t gfp)
{
	may_alloc(gfp);
	return kapi_xa_store(xa, index, entry, gfp);
}

void *xa_store_range(struct xarray *xa, unsigned long first, unsigned long last, void *entry, gfp_t gfp)
{
	may_alloc(gfp);
	return kapi_xa_store_range(xa, first, last, entry, gfp);
}

int idr_alloc(struct idr *idr, void *ptr, int start, int end, gfp_t gfp)
{
	may_alloc(gfp);
	return kapi_idr_alloc(idr, ptr, start, end, gfp);
}

int idr_alloc_u32(struct idr *idr, void *ptr, u32 *id, unsigned long max, gfp_t gfp)
{
	may_alloc(gfp);
	return kapi_idr_alloc_u32(idr, ptr, id, max, gfp);
}

int idr_alloc_cyclic(struct idr *idr, void *ptr, int start, int end, gfp_t gfp)
{
	may_alloc(gfp);
	return kapi_idr_alloc_cyclic(idr, ptr, start, end, gfp);
}

int ida_alloc_range(struct ida *ida, unsigned int min, unsigned int max, gfp_t gfp)
{
	may_alloc(gfp);
	return kapi_ida_alloc_range(ida, min, max, gfp);
}
