// SPDX-License-Identifier: MIT OR Apache-2.0
// Lists of pieces of memory.
#include "host.h"
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/string.h>

int sg_nents(struct scatterlist *sg)
{
	int count = 0;

	for (; sg; sg = sg_next(sg))
		count++;
	return count;
}

int sg_nents_for_len(struct scatterlist *sg, u64 len)
{
	int count;
	u64 total = 0;

	if (!len)
		return 0;
	for (count = 1; sg; sg = sg_next(sg), count++) {
		total += sg->length;
		if (total >= len)
			return count;
	}
	return -EINVAL;
}

struct scatterlist *sg_last(struct scatterlist *sg, unsigned int nents)
{
	while (nents-- > 1)
		sg = sg_next(sg);
	return sg;
}

int sg_alloc_table(struct sg_table *table, unsigned int nents, gfp_t gfp)
{
	memset(table, 0, sizeof(*table));
	if (!nents)
		return -EINVAL;
	table->sgl = kmalloc_array(nents, sizeof(*table->sgl), gfp);
	if (!table->sgl)
		return -ENOMEM;
	sg_init_table(table->sgl, nents);
	table->nents = table->orig_nents = nents;
	return 0;
}

void sg_free_table(struct sg_table *table)
{
	kfree(table->sgl);
	memset(table, 0, sizeof(*table));
}

/* Pages that follow each other are one piece. */
static unsigned int run_of(struct page **pages, unsigned int n_pages)
{
	unsigned int i;

	for (i = 1; i < n_pages && page_to_pfn(pages[i]) == page_to_pfn(pages[i - 1]) + 1; i++)
		;
	return i;
}

int sg_alloc_table_from_pages(struct sg_table *table, struct page **pages, unsigned int n_pages, unsigned int offset,
			      unsigned long size, gfp_t gfp)
{
	struct scatterlist *sg;
	unsigned int i, pieces = 0;
	int error;

	for (i = 0; i < n_pages; i += run_of(pages + i, n_pages - i))
		pieces++;
	error = sg_alloc_table(table, pieces, gfp);
	if (error)
		return error;
	for (i = 0, sg = table->sgl; sg; sg = sg_next(sg)) {
		unsigned int run = run_of(pages + i, n_pages - i);
		unsigned long bytes = min(size, run * PAGE_SIZE - offset);

		sg_set_page(sg, pages[i], (unsigned int)bytes, offset);
		size -= bytes;
		offset = 0;
		i += run;
	}
	return 0;
}

enum direction {
	FROM_BUFFER,
	TO_BUFFER,
	ZERO
};

/* Goes over bytes of the list from @skip on. Return: how many there were. */
static size_t copy(struct scatterlist *sg, unsigned int nents, char *buf, size_t len, size_t skip, enum direction way)
{
	size_t done = 0;

	for (; sg && nents && done < len; nents--, sg = sg_next(sg)) {
		size_t n = skip < sg->length ? min(sg->length - skip, len - done) : 0;
		char *piece = n ? (char *)sg_virt(sg) + skip : NULL;

		skip -= min(skip, (size_t)sg->length);
		if (way == FROM_BUFFER)
			memcpy(piece, buf + done, n);
		else if (way == TO_BUFFER)
			memcpy(buf + done, piece, n);
		else
			memset(piece, 0, n);
		done += n;
	}
	return done;
}

size_t sg_copy_from_buffer(struct scatterlist *sgl, unsigned int nents, const void *buf, size_t len)
{
	return copy(sgl, nents, (char *)buf, len, 0, FROM_BUFFER);
}

size_t sg_copy_to_buffer(struct scatterlist *sgl, unsigned int nents, void *buf, size_t len)
{
	return copy(sgl, nents, buf, len, 0, TO_BUFFER);
}

size_t sg_pcopy_from_buffer(struct scatterlist *sgl, unsigned int nents, const void *buf, size_t len, off_t skip)
{
	return copy(sgl, nents, (char *)buf, len, (size_t)skip, FROM_BUFFER);
}

size_t sg_pcopy_to_buffer(struct scatterlist *sgl, unsigned int nents, void *buf, size_t len, off_t skip)
{
	return copy(sgl, nents, buf, len, (size_t)skip, TO_BUFFER);
}

size_t sg_zero_buffer(struct scatterlist *sgl, unsigned int nents, size_t len, off_t skip)
{
	return copy(sgl, nents, NULL, len, (size_t)skip, ZERO);
}
