// SPDX-License-Identifier: MIT OR Apache-2.0
// Pieces of a page block, and those that frames of network devices have for their data.
//
// How it works: a block of frames' pieces is the runtime's, so that no check counts it: the frames are counted. It goes
// with its last piece, so that nothing is left at the end when no frame is.
#include "host.h"
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/page_frag_cache.h>
#include <linux/spinlock.h>
#include <linux/version.h>

/* References for pieces, taken at once when a block comes. */
#define BIAS_MAX (PAGE_FRAG_CACHE_MAX_SIZE + 1)

static bool refill(struct page_frag_cache *nc, gfp_t gfp, unsigned long site)
{
	gfp_t try = (gfp & ~__GFP_DIRECT_RECLAIM) | __GFP_COMP | __GFP_NOWARN | __GFP_NORETRY | __GFP_NOMEMALLOC;
	struct page *page = kapi_alloc_pages_for(try, PAGE_FRAG_CACHE_MAX_ORDER, site);

	nc->size = PAGE_FRAG_CACHE_MAX_SIZE;
	if (!page) {
		page = kapi_alloc_pages_for(gfp, 0, site);
		nc->size = PAGE_SIZE;
	}
	if (!page)
		return false;
	nc->va = page_address(page);
	page_ref_add(page, BIAS_MAX - 1);
	nc->pagecnt_bias = BIAS_MAX;
	nc->offset = LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0) ? nc->size : 0;
	return true;
}

void __page_frag_cache_drain(struct page *page, unsigned int count)
{
	if (count > 1)
		page_ref_sub(page, (int)count - 1);
	put_page(page);
}

/* Gives up what was taken in advance. */
void page_frag_cache_drain(struct page_frag_cache *nc)
{
	if (nc->va)
		__page_frag_cache_drain(virt_to_head_page(nc->va), nc->pagecnt_bias);
	nc->va = NULL;
}

/* Nobody has a piece any more: the block begins anew. */
static bool reuse(struct page_frag_cache *nc)
{
	struct page *page = virt_to_head_page(nc->va);

	if (page_ref_count(page) != (int)nc->pagecnt_bias) {
		page_frag_cache_drain(nc);
		return false;
	}
	set_page_count(page, BIAS_MAX);
	nc->pagecnt_bias = BIAS_MAX;
	nc->offset = LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0) ? nc->size : 0;
	return true;
}

/* From the end of the block down, since 6.11 from its start up; 0 and more, or -1 if there is no room. */
static long place(struct page_frag_cache *nc, unsigned int size, unsigned int align)
{
	long at;

	if (LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0))
		at = ((long)nc->offset - size) & -(long)align;
	else
		at = ALIGN((long)nc->offset, (long)align);
	return at >= 0 && at + size <= nc->size ? at : -1;
}

static void *alloc(struct page_frag_cache *nc, unsigned int size, gfp_t gfp, unsigned int align, unsigned long site)
{
	long at;

	if (!nc->va && !refill(nc, gfp, site))
		return NULL;
	at = place(nc, size, align);
	if (at < 0) {
		if (!reuse(nc) && !refill(nc, gfp, site))
			return NULL;
		at = place(nc, size, align);
		/* More than a block of the size that there is. */
		if (at < 0)
			return NULL;
	}
	nc->pagecnt_bias--;
	nc->offset = (unsigned int)at;
	if (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0))
		nc->offset += size;
	return nc->va + at;
}

void *page_frag_alloc_align(struct page_frag_cache *nc, unsigned int size, gfp_t gfp, unsigned int align)
{
	WARN_ON_ONCE(!align || align & (align - 1));
	return alloc(nc, size, gfp, align, _RET_IP_);
}

void *page_frag_alloc(struct page_frag_cache *nc, unsigned int size, gfp_t gfp)
{
	return alloc(nc, size, gfp, 1, _RET_IP_);
}

/* Of page->private: the block is of frames' pieces. */
#define OF_FRAMES 0x66726d73UL

static struct page *frames;
static unsigned int frames_at;
static DEFINE_SPINLOCK(frames_lock);

static void *frame_piece(unsigned int size, gfp_t gfp)
{
	void *piece;

	if (size > PAGE_FRAG_CACHE_MAX_SIZE)
		return NULL;
	if (frames && frames_at < size)
		frames = NULL;
	if (!frames) {
		frames = kapi_take_pages((gfp & ~__GFP_DIRECT_RECLAIM) | __GFP_COMP | __GFP_NOWARN, PAGE_FRAG_CACHE_MAX_ORDER);
		if (!frames)
			return NULL;
		frames->private = OF_FRAMES;
		set_page_count(frames, 0);
		frames_at = PAGE_FRAG_CACHE_MAX_SIZE;
	}
	/* From the end down, as kernels up to 6.10 have it. */
	frames_at = (frames_at - size) & ~63U;
	page_ref_inc(frames);
	piece = (char *)page_address(frames) + frames_at;
	return piece;
}

void *kapi_frame_piece(unsigned int size, gfp_t gfp)
{
	return UNDER_LOCK(&frames_lock, frame_piece((unsigned int)ALIGN(size, 64), gfp));
}

static void frame_gone(struct page *page)
{
	page_ref_dec(page);
	if (page_ref_count(page))
		return;
	if (frames == page)
		frames = NULL;
	page->private = 0;
	kapi_give_pages(page, PAGE_FRAG_CACHE_MAX_ORDER);
}

/* Gives up a reference to a page that may be of frames' pieces. */
void kapi_frame_put(struct page *page)
{
	struct page *head = compound_head(page);
	unsigned long flags;

	if (head->private != OF_FRAMES) {
		put_page(page);
		return;
	}
	spin_lock_irqsave(&frames_lock, flags);
	frame_gone(head);
	spin_unlock_irqrestore(&frames_lock, flags);
}

void page_frag_free(void *addr) { kapi_frame_put(virt_to_page(addr)); }
