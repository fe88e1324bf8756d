/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Lists of pieces of memory, each in pages that follow each other. The last piece of a table is marked.
 *
 * Linux counterpart: include/linux/scatterlist.h @ 6.12. Difference: a table is one array, whatever its length.
 */
#ifndef _LINUX_SCATTERLIST_H
#define _LINUX_SCATTERLIST_H

#include <linux/bug.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/types.h>

/* The lowest bits of a page's address: this entry leads to another table, or is the last. */
#define SG_CHAIN 1UL
#define SG_END 2UL
#define SG_PAGE_LINK_MASK (SG_CHAIN | SG_END)
#define SG_MAX_SINGLE_ALLOC (PAGE_SIZE / sizeof(struct scatterlist))

struct scatterlist {
	unsigned long page_link;
	unsigned int offset;
	unsigned int length;
	dma_addr_t dma_address;
	unsigned int dma_length;
};

struct sg_table {
	struct scatterlist *sgl;
	unsigned int nents;
	unsigned int orig_nents;
};

#define sg_dma_address(sg) ((sg)->dma_address)
#define sg_dma_len(sg) ((sg)->dma_length)
#define sg_is_chain(sg) ((sg)->page_link & SG_CHAIN)
#define sg_is_last(sg) ((sg)->page_link & SG_END)
#define sg_chain_ptr(sg) ((struct scatterlist *)((sg)->page_link & ~SG_PAGE_LINK_MASK))
#define for_each_sg(sglist, sg, nr, i) for ((i) = 0, (sg) = (sglist); (i) < (nr); (i)++, (sg) = sg_next(sg))
#define for_each_sgtable_sg(table, sg, i) for_each_sg((table)->sgl, sg, (table)->orig_nents, i)

extern int sg_nents(struct scatterlist *sg);
extern int sg_nents_for_len(struct scatterlist *sg, u64 len);
extern struct scatterlist *sg_last(struct scatterlist *sg, unsigned int nents);
extern int sg_alloc_table(struct sg_table *table, unsigned int nents, gfp_t gfp);
extern int sg_alloc_table_from_pages(struct sg_table *table, struct page **pages, unsigned int n_pages,
				     unsigned int offset, unsigned long size, gfp_t gfp);
extern void sg_free_table(struct sg_table *table);
extern size_t sg_copy_from_buffer(struct scatterlist *sgl, unsigned int nents, const void *buf, size_t len);
extern size_t sg_copy_to_buffer(struct scatterlist *sgl, unsigned int nents, void *buf, size_t len);
extern size_t sg_pcopy_from_buffer(struct scatterlist *sgl, unsigned int nents, const void *buf, size_t len, off_t skip);
extern size_t sg_pcopy_to_buffer(struct scatterlist *sgl, unsigned int nents, void *buf, size_t len, off_t skip);
extern size_t sg_zero_buffer(struct scatterlist *sgl, unsigned int nents, size_t len, off_t skip);

static inline struct page *sg_page(struct scatterlist *sg) { return (struct page *)(sg->page_link & ~SG_PAGE_LINK_MASK); }

static inline void sg_assign_page(struct scatterlist *sg, struct page *page)
{
	sg->page_link = (sg->page_link & SG_PAGE_LINK_MASK) | (unsigned long)page;
}

static inline void sg_set_page(struct scatterlist *sg, struct page *page, unsigned int len, unsigned int offset)
{
	sg_assign_page(sg, page);
	sg->offset = offset;
	sg->length = len;
}

static inline void sg_set_buf(struct scatterlist *sg, const void *buf, unsigned int len)
{
	sg_set_page(sg, virt_to_page(buf), len, (unsigned int)((unsigned long)buf & (PAGE_SIZE - 1)));
}

static inline void *sg_virt(struct scatterlist *sg) { return (char *)page_address(sg_page(sg)) + sg->offset; }
static inline void sg_mark_end(struct scatterlist *sg) { sg->page_link = (sg->page_link | SG_END) & ~SG_CHAIN; }
static inline void sg_unmark_end(struct scatterlist *sg) { sg->page_link &= ~SG_END; }

static inline void sg_init_table(struct scatterlist *sgl, unsigned int nents)
{
	memset(sgl, 0, sizeof(*sgl) * nents);
	sg_mark_end(&sgl[nents - 1]);
}

static inline void sg_init_one(struct scatterlist *sg, const void *buf, unsigned int len)
{
	sg_init_table(sg, 1);
	sg_set_buf(sg, buf, len);
}

/* Lets the last entry of a table lead to another. */
static inline void sg_chain(struct scatterlist *from, unsigned int nents, struct scatterlist *to)
{
	from[nents - 1].page_link = ((unsigned long)to | SG_CHAIN) & ~SG_END;
}

/* Return: NULL behind the last. */
static inline struct scatterlist *sg_next(struct scatterlist *sg)
{
	if (sg_is_last(sg))
		return NULL;
	sg++;
	return sg_is_chain(sg) ? sg_chain_ptr(sg) : sg;
}

#endif
