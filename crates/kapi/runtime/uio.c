// SPDX-License-Identifier: MIT OR Apache-2.0
// Data in pieces: iov_iter.
#include "host.h"
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

void iov_iter_init(struct iov_iter *iter, unsigned int direction, const struct iovec *iov, unsigned long nr_segs,
		   size_t count)
{
	*iter = (struct iov_iter){ .iter_type = ITER_IOVEC, .data_source = direction, .__iov = iov,
				   .nr_segs = nr_segs, .count = count };
}

void iov_iter_kvec(struct iov_iter *iter, unsigned int direction, const struct kvec *kvec, unsigned long nr_segs,
		   size_t count)
{
	*iter = (struct iov_iter){ .iter_type = ITER_KVEC, .data_source = direction, .kvec = kvec,
				   .nr_segs = nr_segs, .count = count };
}

void iov_iter_ubuf(struct iov_iter *iter, unsigned int direction, void __user *buf, size_t count)
{
	*iter = (struct iov_iter){ .iter_type = ITER_UBUF, .data_source = direction, .nr_segs = 1, .count = count,
				   .__ubuf_iovec = { .iov_base = buf, .iov_len = count } };
}

/* Its pieces; a single buffer is the piece that the iterator itself has. */
static const struct iovec *pieces(const struct iov_iter *iter)
{
	return iter->iter_type == ITER_UBUF ? &iter->__ubuf_iovec : iter->__iov;
}

size_t iov_iter_single_seg_count(const struct iov_iter *iter)
{
	return iter->count ? min(iter->count, pieces(iter)->iov_len - iter->iov_offset) : 0;
}

void iov_iter_advance(struct iov_iter *iter, size_t bytes)
{
	bytes = min(bytes, iter->count);
	iter->count -= bytes;
	iter->iov_offset += bytes;
	while (iter->iter_type != ITER_UBUF && iter->nr_segs && iter->iov_offset >= iter->__iov->iov_len) {
		iter->iov_offset -= iter->__iov->iov_len;
		iter->__iov++;
		iter->nr_segs--;
	}
}

void iov_iter_revert(struct iov_iter *iter, size_t bytes)
{
	iter->count += bytes;
	while (bytes > iter->iov_offset && iter->iter_type != ITER_UBUF) {
		bytes -= iter->iov_offset;
		iter->__iov--;
		iter->nr_segs++;
		iter->iov_offset = iter->__iov->iov_len;
	}
	iter->iov_offset -= bytes;
}

/* One piece's part of a copy: bytes that were not copied. */
static size_t copy_part(char *own, char *there, size_t n, const struct iov_iter *iter, bool out)
{
	if (iter->iter_type == ITER_KVEC) {
		memcpy(out ? there : own, out ? own : there, n);
		return 0;
	}
	return out ? copy_to_user(there, own, n) : copy_from_user(own, there, n);
}

static size_t copy(char *own, size_t bytes, struct iov_iter *iter, bool out)
{
	size_t done = 0;

	bytes = min(bytes, iter->count);
	while (done < bytes) {
		size_t n = min(bytes - done, iov_iter_single_seg_count(iter));
		char *there = (char *)pieces(iter)->iov_base + iter->iov_offset;
		size_t left = copy_part(own + done, there, n, iter, out);

		iov_iter_advance(iter, n - left);
		done += n - left;
		if (left)
			break;
	}
	return done;
}

size_t copy_to_iter(const void *from, size_t bytes, struct iov_iter *iter)
{
	return copy((char *)from, bytes, iter, true);
}

size_t copy_from_iter(void *to, size_t bytes, struct iov_iter *iter) { return copy(to, bytes, iter, false); }

/* All, or nothing. */
bool copy_from_iter_full(void *to, size_t bytes, struct iov_iter *iter)
{
	size_t done = copy_from_iter(to, bytes, iter);

	if (done == bytes)
		return true;
	iov_iter_revert(iter, done);
	return false;
}

size_t iov_iter_zero(size_t bytes, struct iov_iter *iter)
{
	static const char zeroes[256];
	size_t done = 0, n;

	while (done < bytes) {
		n = copy_to_iter(zeroes, min(bytes - done, sizeof(zeroes)), iter);
		if (!n)
			break;
		done += n;
	}
	return done;
}

size_t copy_page_to_iter(struct page *page, size_t offset, size_t bytes, struct iov_iter *iter)
{
	return copy_to_iter((char *)page_address(page) + offset, bytes, iter);
}

size_t copy_page_from_iter(struct page *page, size_t offset, size_t bytes, struct iov_iter *iter)
{
	return copy_from_iter((char *)page_address(page) + offset, bytes, iter);
}
