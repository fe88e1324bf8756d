// SPDX-License-Identifier: MIT OR Apache-2.0
// Numbers and arrays whose nodes are allocated: the host's functions, which may sleep where the flags say so.
//
// How it works: the host is told for which call of the module the nodes are that a function makes.
#include "host.h"
#include <linux/idr.h>
#include <linux/xarray.h>

/* The caller says by @gfp that it may sleep. */
#define may_alloc(gfp) do { \
	if ((gfp) & __GFP_DIRECT_RECLAIM) \
		might_sleep(); \
} while (0)

/* A function of the host under its own name: its type, its parameters, and their names. */
#define FOR_CALLER(type, name, params, args, ...) \
	extern type kapi_##name params; \
	type name params \
	{ \
		__VA_ARGS__ \
		kapi_nodes_for(kapi_module_site()); \
		return kapi_##name args; \
	}

FOR_CALLER(void *, xa_store, (struct xarray *xa, unsigned long index, void *entry, gfp_t gfp), (xa, index, entry, gfp),
	   may_alloc(gfp);)
FOR_CALLER(void *, xa_store_range, (struct xarray *xa, unsigned long first, unsigned long last, void *entry, gfp_t gfp),
	   (xa, first, last, entry, gfp), may_alloc(gfp);)
FOR_CALLER(void *, __xa_store, (struct xarray *xa, unsigned long index, void *entry, gfp_t gfp), (xa, index, entry, gfp))
FOR_CALLER(void *, __xa_cmpxchg, (struct xarray *xa, unsigned long index, void *old, void *entry, gfp_t gfp),
	   (xa, index, old, entry, gfp))
FOR_CALLER(int, __xa_insert, (struct xarray *xa, unsigned long index, void *entry, gfp_t gfp), (xa, index, entry, gfp))
FOR_CALLER(int, __xa_alloc, (struct xarray *xa, u32 *id, void *entry, struct xa_limit limit, gfp_t gfp),
	   (xa, id, entry, limit, gfp))
FOR_CALLER(int, __xa_alloc_cyclic,
	   (struct xarray *xa, u32 *id, void *entry, struct xa_limit limit, u32 *next, gfp_t gfp),
	   (xa, id, entry, limit, next, gfp))
FOR_CALLER(void *, xas_store, (struct xa_state *xas, void *entry), (xas, entry))
FOR_CALLER(bool, xas_nomem, (struct xa_state *xas, gfp_t gfp), (xas, gfp))
FOR_CALLER(void, xas_create_range, (struct xa_state *xas), (xas))
FOR_CALLER(void, xas_split_alloc, (struct xa_state *xas, void *entry, unsigned int order, gfp_t gfp),
	   (xas, entry, order, gfp))
FOR_CALLER(int, idr_alloc, (struct idr *idr, void *ptr, int start, int end, gfp_t gfp), (idr, ptr, start, end, gfp),
	   may_alloc(gfp);)
FOR_CALLER(int, idr_alloc_u32, (struct idr *idr, void *ptr, u32 *id, unsigned long max, gfp_t gfp),
	   (idr, ptr, id, max, gfp), may_alloc(gfp);)
FOR_CALLER(int, idr_alloc_cyclic, (struct idr *idr, void *ptr, int start, int end, gfp_t gfp),
	   (idr, ptr, start, end, gfp), may_alloc(gfp);)
FOR_CALLER(int, ida_alloc_range, (struct ida *ida, unsigned int min, unsigned int max, gfp_t gfp), (ida, min, max, gfp),
	   may_alloc(gfp);)
