// SPDX-License-Identifier: MIT OR Apache-2.0
// Rings: positions only rise; what lies between out and in is there to be read.
#include <linux/kernel.h>
#include <linux/kfifo.h>
#include <linux/scatterlist.h>
#include <linux/string.h>

int __kfifo_init(struct __kfifo *fifo, void *buffer, unsigned int size, size_t esize)
{
	size /= (unsigned int)esize;
	if (!is_power_of_2(size))
		size = (unsigned int)rounddown_pow_of_two(max(size, 1U));
	*fifo = (struct __kfifo){ .mask = size - 1, .esize = (unsigned int)esize, .data = buffer };
	if (size >= 2)
		return 0;
	fifo->mask = 0;
	return -EINVAL;
}

int __kfifo_alloc(struct __kfifo *fifo, unsigned int size, size_t esize, gfp_t gfp)
{
	void *buffer;

	*fifo = (struct __kfifo){ .esize = (unsigned int)esize };
	size = (unsigned int)roundup_pow_of_two(size);
	if (size < 2)
		return -EINVAL;
	buffer = kmalloc_array(size, esize, gfp);
	if (!buffer)
		return -ENOMEM;
	return __kfifo_init(fifo, buffer, size * (unsigned int)esize, esize);
}

void __kfifo_free(struct __kfifo *fifo)
{
	kfree(fifo->data);
	*fifo = (struct __kfifo){ .esize = fifo->esize };
}

static unsigned int unused(const struct __kfifo *fifo)
{
	return fifo->mask + 1 - (READ_ONCE(fifo->in) - READ_ONCE(fifo->out));
}

/* Copies @n elements to or from the ring at position @at. */
static void copy(const struct __kfifo *fifo, void *buf, unsigned int n, unsigned int at, bool in)
{
	size_t esize = fifo->esize, start = (at & fifo->mask) * esize;
	size_t bytes = n * esize, first = min(bytes, (fifo->mask + 1) * esize - start);
	char *ring = fifo->data, *block = buf;

	if (in) {
		memcpy(ring + start, block, first);
		memcpy(ring, block + first, bytes - first);
	} else {
		memcpy(block, ring + start, first);
		memcpy(block + first, ring, bytes - first);
	}
}

unsigned int __kfifo_peek_len(const struct __kfifo *fifo, size_t prefix)
{
	u8 bytes[2] = { 0 };

	if (fifo->in == fifo->out)
		return 0;
	if (!prefix)
		return fifo->esize;
	copy(fifo, bytes, (unsigned int)prefix, fifo->out, false);
	return bytes[0] | (unsigned int)bytes[1] << 8;
}

unsigned int __kfifo_len(const struct __kfifo *fifo, size_t prefix)
{
	return READ_ONCE(fifo->in) - READ_ONCE(fifo->out);
}

unsigned int __kfifo_avail(const struct __kfifo *fifo, size_t prefix)
{
	unsigned int room = unused(fifo), most = prefix ? (1U << 8 * prefix) - 1 : ~0U;

	if (room <= prefix)
		return prefix ? 0 : room;
	return min(room - (unsigned int)prefix, most);
}

unsigned int __kfifo_in(struct __kfifo *fifo, const void *buf, unsigned int len, size_t prefix)
{
	unsigned int room = __kfifo_avail(fifo, prefix), at = fifo->in;

	if (prefix) {
		u8 bytes[2] = { (u8)len, (u8)(len >> 8) };

		/* A record goes whole or not at all. */
		if (len > room)
			return 0;
		copy(fifo, bytes, (unsigned int)prefix, at, true);
		at += (unsigned int)prefix;
	}
	len = min(len, room);
	copy(fifo, (void *)buf, len, at, true);
	smp_wmb(); /* the elements before the position that shows them */
	WRITE_ONCE(fifo->in, at + len);
	return len;
}

unsigned int __kfifo_out(struct __kfifo *fifo, void *buf, unsigned int len, size_t prefix, bool peek)
{
	unsigned int at = fifo->out, next;

	if (READ_ONCE(fifo->in) == at)
		return 0;
	smp_rmb();
	if (prefix) {
		unsigned int whole = __kfifo_peek_len(fifo, prefix);

		at += (unsigned int)prefix;
		next = at + whole;
		len = min(len, whole);
	} else {
		len = min(len, fifo->in - at);
		next = at + len;
	}
	copy(fifo, buf, len, at, false);
	smp_mb(); /* the elements are read before their place is given up */
	if (!peek)
		WRITE_ONCE(fifo->out, next);
	return len;
}

void __kfifo_skip(struct __kfifo *fifo, size_t prefix)
{
	if (fifo->in != fifo->out)
		fifo->out += prefix ? (unsigned int)prefix + __kfifo_peek_len(fifo, prefix) : 1;
}

/* Puts @n elements of the ring at position @at into a list: one piece, or two where the ring's end lies between. */
static unsigned int pieces(struct __kfifo *fifo, struct scatterlist *sgl, int nents, unsigned int n, unsigned int at)
{
	size_t esize = fifo->esize, start = (at & fifo->mask) * esize;
	size_t bytes = n * esize, first = min(bytes, (fifo->mask + 1) * esize - start);
	int count = 0;

	if (first && nents > 0)
		sg_set_buf(&sgl[count++], (char *)fifo->data + start, (unsigned int)first);
	if (bytes > first && nents > 1)
		sg_set_buf(&sgl[count++], fifo->data, (unsigned int)(bytes - first));
	if (count)
		sg_mark_end(&sgl[count - 1]);
	return (unsigned int)count;
}

unsigned int __kfifo_dma_in_prepare(struct __kfifo *fifo, struct scatterlist *sgl, int nents, unsigned int len,
				    size_t prefix)
{
	unsigned int room = unused(fifo);

	/* A record goes as a whole, or not at all. */
	if (prefix && len + prefix > room)
		return 0;
	return pieces(fifo, sgl, nents, min(len, room), fifo->in + (unsigned int)prefix);
}

void __kfifo_dma_in_finish(struct __kfifo *fifo, unsigned int len, size_t prefix)
{
	u8 bytes[2] = { (u8)len, (u8)(len >> 8) };

	if (prefix)
		copy(fifo, bytes, (unsigned int)prefix, fifo->in, true);
	smp_store_release(&fifo->in, fifo->in + len + (unsigned int)prefix);
}

unsigned int __kfifo_dma_out_prepare(struct __kfifo *fifo, struct scatterlist *sgl, int nents, unsigned int len,
				     size_t prefix)
{
	unsigned int there = smp_load_acquire(&fifo->in) - fifo->out;

	if (!there)
		return 0;
	if (prefix)
		there = __kfifo_peek_len(fifo, prefix);
	return pieces(fifo, sgl, nents, min(len, there), fifo->out + (unsigned int)prefix);
}

void __kfifo_dma_out_finish(struct __kfifo *fifo, unsigned int len, size_t prefix)
{
	if (prefix)
		len = __kfifo_peek_len(fifo, prefix) + (unsigned int)prefix;
	smp_store_release(&fifo->out, fifo->out + len);
}
