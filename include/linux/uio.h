/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Where data come from or go to, in pieces: a user's buffers, or the kernel's own. */
#ifndef _LINUX_UIO_H
#define _LINUX_UIO_H

#include <linux/kernel.h>
#include <linux/types.h>

struct page;

struct iovec {
	void __user *iov_base;
	size_t iov_len;
};

struct kvec {
	void *iov_base;
	size_t iov_len;
};

#define ITER_SOURCE 1
#define ITER_DEST 0
enum iter_type {
	ITER_UBUF,
	ITER_IOVEC,
	ITER_KVEC
};

/* @count bytes are left; they begin @iov_offset bytes into the first piece. */
struct iov_iter {
	u8 iter_type;
	bool data_source;
	size_t iov_offset;
	size_t count;
	union {
		const struct iovec *__iov;
		const struct iovec *iov;
		const struct kvec *kvec;
	};
	unsigned long nr_segs;
	struct iovec __ubuf_iovec;
};

extern void iov_iter_init(struct iov_iter *iter, unsigned int direction, const struct iovec *iov,
			  unsigned long nr_segs, size_t count);
extern void iov_iter_kvec(struct iov_iter *iter, unsigned int direction, const struct kvec *kvec,
			  unsigned long nr_segs, size_t count);
extern void iov_iter_ubuf(struct iov_iter *iter, unsigned int direction, void __user *buf, size_t count);
extern void iov_iter_advance(struct iov_iter *iter, size_t bytes);
extern void iov_iter_revert(struct iov_iter *iter, size_t bytes);
extern size_t copy_to_iter(const void *from, size_t bytes, struct iov_iter *iter);
extern size_t copy_from_iter(void *to, size_t bytes, struct iov_iter *iter);
extern bool copy_from_iter_full(void *to, size_t bytes, struct iov_iter *iter);
extern size_t iov_iter_zero(size_t bytes, struct iov_iter *iter);
extern size_t copy_page_to_iter(struct page *page, size_t offset, size_t bytes, struct iov_iter *iter);
extern size_t copy_page_from_iter(struct page *page, size_t offset, size_t bytes, struct iov_iter *iter);
extern size_t iov_iter_single_seg_count(const struct iov_iter *iter);

static inline size_t iov_iter_count(const struct iov_iter *iter) { return iter->count; }
static inline unsigned char iov_iter_rw(const struct iov_iter *iter) { return iter->data_source; }
static inline bool iter_is_iovec(const struct iov_iter *iter) { return iter->iter_type == ITER_IOVEC; }
static inline bool iter_is_ubuf(const struct iov_iter *iter) { return iter->iter_type == ITER_UBUF; }
static inline bool iov_iter_is_kvec(const struct iov_iter *iter) { return iter->iter_type == ITER_KVEC; }
static inline bool user_backed_iter(const struct iov_iter *iter) { return iter->iter_type != ITER_KVEC; }
static inline void iov_iter_truncate(struct iov_iter *iter, u64 count)
{
	if (iter->count > count)
		iter->count = count;
}

static inline size_t iov_length(const struct iovec *iov, unsigned long nr_segs)
{
	size_t bytes = 0;

	while (nr_segs--)
		bytes += iov[nr_segs].iov_len;
	return bytes;
}

#endif
