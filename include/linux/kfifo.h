/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Rings of elements with one reader and one writer, without a lock.
 *
 * A fifo knows its element's type; one of records (struct kfifo_rec_ptr_1 and _2) holds runs of bytes of any
 * length, each with its length in one or two bytes in front. The interface is that of 2.6.36 and later. */
#ifndef _LINUX_KFIFO_H
#define _LINUX_KFIFO_H

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>

struct __kfifo {
	unsigned int in;
	unsigned int out;
	unsigned int mask;
	unsigned int esize;
	void *data;
};

/* kapi_type and kapi_record are never read: they carry the element's size and the record prefix's. */
#define __KAPI_FIFO(type_, count, prefix) \
	{ \
		struct __kfifo kfifo; \
		union { \
			type_ *kapi_type; \
			char (*kapi_record)[prefix]; \
		}; \
		type_ buf[count]; \
	}
#define STRUCT_KFIFO_PTR(type) struct __KAPI_FIFO(type, 0, 0)
struct kfifo __KAPI_FIFO(unsigned char, 0, 0);
struct kfifo_rec_ptr_1 __KAPI_FIFO(unsigned char, 0, 1);
struct kfifo_rec_ptr_2 __KAPI_FIFO(unsigned char, 0, 2);
#define STRUCT_KFIFO_REC_1(size) struct __KAPI_FIFO(unsigned char, size, 1)
#define STRUCT_KFIFO_REC_2(size) struct __KAPI_FIFO(unsigned char, size, 2)
#define DECLARE_KFIFO(fifo, type, size) struct __KAPI_FIFO(type, size, 0) fifo
#define DECLARE_KFIFO_PTR(fifo, type) STRUCT_KFIFO_PTR(type) fifo
#define DEFINE_KFIFO(fifo, type, size) \
	DECLARE_KFIFO(fifo, type, size) = { \
		.kfifo = { .mask = (size) - 1, .esize = sizeof(type), .data = fifo.buf } }
#define INIT_KFIFO(fifo) \
	((fifo).kfifo = (struct __kfifo){ .mask = ARRAY_SIZE((fifo).buf) ? ARRAY_SIZE((fifo).buf) - 1 : 0, \
					  .esize = sizeof(*(fifo).buf), .data = (fifo).buf })

extern int __kfifo_alloc(struct __kfifo *fifo, unsigned int size, size_t esize, gfp_t gfp);
extern int __kfifo_init(struct __kfifo *fifo, void *buffer, unsigned int size, size_t esize);
extern void __kfifo_free(struct __kfifo *fifo);
extern unsigned int __kfifo_in(struct __kfifo *fifo, const void *buf, unsigned int len, size_t prefix);
extern unsigned int __kfifo_out(struct __kfifo *fifo, void *buf, unsigned int len, size_t prefix, bool peek);
extern unsigned int __kfifo_len(const struct __kfifo *fifo, size_t prefix);
extern unsigned int __kfifo_avail(const struct __kfifo *fifo, size_t prefix);
extern unsigned int __kfifo_peek_len(const struct __kfifo *fifo, size_t prefix);
extern void __kfifo_skip(struct __kfifo *fifo, size_t prefix);
struct scatterlist;
extern unsigned int __kfifo_dma_in_prepare(struct __kfifo *fifo, struct scatterlist *sgl, int nents, unsigned int len,
					   size_t prefix);
extern void __kfifo_dma_in_finish(struct __kfifo *fifo, unsigned int len, size_t prefix);
extern unsigned int __kfifo_dma_out_prepare(struct __kfifo *fifo, struct scatterlist *sgl, int nents, unsigned int len,
					    size_t prefix);
extern void __kfifo_dma_out_finish(struct __kfifo *fifo, unsigned int len, size_t prefix);

/* Whether the buffer lies elsewhere. */
#define __is_kfifo_ptr(fifo) (sizeof((fifo)->buf) == 0)
#define kfifo_esize(fifo) ((fifo)->kfifo.esize)
#define kfifo_recsize(fifo) (sizeof(*(fifo)->kapi_record))
#define kfifo_size(fifo) ((fifo)->kfifo.mask + 1)
#define kfifo_initialized(fifo) ((fifo)->kfifo.mask != 0)
#define kfifo_reset(fifo) ((void)((fifo)->kfifo.in = (fifo)->kfifo.out = 0))
#define kfifo_reset_out(fifo) ((void)((fifo)->kfifo.out = (fifo)->kfifo.in))
#define kfifo_alloc(fifo, size, gfp) __kfifo_alloc(&(fifo)->kfifo, size, sizeof(*(fifo)->buf), gfp)
#define kfifo_init(fifo, buffer, size) __kfifo_init(&(fifo)->kfifo, buffer, size, sizeof(*(fifo)->buf))
#define kfifo_free(fifo) __kfifo_free(&(fifo)->kfifo)
#define kfifo_len(fifo) __kfifo_len(&(fifo)->kfifo, kfifo_recsize(fifo))
#define kfifo_avail(fifo) __kfifo_avail(&(fifo)->kfifo, kfifo_recsize(fifo))
#define kfifo_is_empty(fifo) ((fifo)->kfifo.in == (fifo)->kfifo.out)
#define kfifo_is_full(fifo) (!kfifo_avail(fifo))
#define kfifo_peek_len(fifo) __kfifo_peek_len(&(fifo)->kfifo, kfifo_recsize(fifo))
#define kfifo_skip(fifo) __kfifo_skip(&(fifo)->kfifo, kfifo_recsize(fifo))

/* A run of elements, or one record. Return: elements (bytes of a record) that went. */
#define kfifo_in(fifo, from, n) __kfifo_in(&(fifo)->kfifo, from, n, kfifo_recsize(fifo))
#define kfifo_out(fifo, to, n) __kfifo_out(&(fifo)->kfifo, to, n, kfifo_recsize(fifo), false)
#define kfifo_out_peek(fifo, to, n) __kfifo_out(&(fifo)->kfifo, to, n, kfifo_recsize(fifo), true)

/* One element. Return: whether it went. */
#define kfifo_put(fifo, value) ({ \
	typeof(*(fifo)->buf) __kapi_value = (value); \
	kfifo_in(fifo, &__kapi_value, kfifo_recsize(fifo) ? (unsigned int)sizeof(__kapi_value) : 1) != 0; })
#define kfifo_get(fifo, value) ({ \
	typeof(*(fifo)->buf) *__kapi_to = (value); \
	kfifo_out(fifo, __kapi_to, kfifo_recsize(fifo) ? (unsigned int)sizeof(*__kapi_to) : 1) != 0; })
#define kfifo_peek(fifo, value) ({ \
	typeof(*(fifo)->buf) *__kapi_to = (value); \
	kfifo_out_peek(fifo, __kapi_to, kfifo_recsize(fifo) ? (unsigned int)sizeof(*__kapi_to) : 1) != 0; })

#define __kfifo_spinlocked(lock, moved) ({ \
	unsigned long __kapi_flags; \
	unsigned int __kapi_n; \
	spin_lock_irqsave(lock, __kapi_flags); \
	__kapi_n = (moved); \
	spin_unlock_irqrestore(lock, __kapi_flags); \
	__kapi_n; })
#define kfifo_in_spinlocked(fifo, from, n, lock) __kfifo_spinlocked(lock, kfifo_in(fifo, from, n))
#define kfifo_out_spinlocked(fifo, to, n, lock) __kfifo_spinlocked(lock, kfifo_out(fifo, to, n))
#define kfifo_in_locked(fifo, from, n, lock) kfifo_in_spinlocked(fifo, from, n, lock)
#define kfifo_out_locked(fifo, to, n, lock) kfifo_out_spinlocked(fifo, to, n, lock)

/* What a device reads or writes itself: pieces of the ring, and then how much it did. Return: pieces, 0 for none. */
#define kfifo_dma_in_prepare(fifo, sgl, nents, len) \
	__kfifo_dma_in_prepare(&(fifo)->kfifo, sgl, nents, len, kfifo_recsize(fifo))
#define kfifo_dma_in_finish(fifo, len) __kfifo_dma_in_finish(&(fifo)->kfifo, len, kfifo_recsize(fifo))
#define kfifo_dma_out_prepare(fifo, sgl, nents, len) \
	__kfifo_dma_out_prepare(&(fifo)->kfifo, sgl, nents, len, kfifo_recsize(fifo))
#define kfifo_dma_out_finish(fifo, len) __kfifo_dma_out_finish(&(fifo)->kfifo, len, kfifo_recsize(fifo))

/* Whole elements of @len bytes; @copied gets the bytes that went. Return: 0 or -EFAULT. */
#define kfifo_from_user(fifo, from, len, copied) ({ \
	bool __kapi_good = access_ok((const void __user *)(from), len); \
	*(copied) = __kapi_good ? kfifo_in(fifo, (const void *)(from), (len) / kfifo_esize(fifo)) * \
				  kfifo_esize(fifo) : 0; \
	__kapi_good ? 0 : -EFAULT; })
#define kfifo_to_user(fifo, to, len, copied) ({ \
	bool __kapi_good = access_ok((void __user *)(to), len); \
	*(copied) = __kapi_good ? kfifo_out(fifo, (void *)(to), (len) / kfifo_esize(fifo)) * \
				  kfifo_esize(fifo) : 0; \
	__kapi_good ? 0 : -EFAULT; })

#endif
