/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Heaps in an array: the least element, by a function of the user, is at index 0.
 *
 * Linux counterpart: include/linux/min_heap.h @ 6.12 and 7.3, from whose interface this header is written.
 *
 * Invariant: no element is less than the one at (its index - 1) / 2.
 *
 * Differences from Linux: the _inline names are the same functions.
 */
#ifndef _LINUX_MIN_HEAP_H
#define _LINUX_MIN_HEAP_H

#include <linux/bug.h>
#include <linux/string.h>
#include <linux/types.h>

/* A heap of @_type; with @_nr of them inside, or where min_heap_init() says. */
#define MIN_HEAP_PREALLOCATED(_type, _name, _nr) \
	struct _name { \
		size_t nr; \
		size_t size; \
		_type *data; \
		_type preallocated[_nr]; \
	}
#define DEFINE_MIN_HEAP(_type, _name) MIN_HEAP_PREALLOCATED(_type, _name, 0)
typedef DEFINE_MIN_HEAP(char, min_heap_char) min_heap_char;

struct min_heap_callbacks {
	bool (*less)(const void *lhs, const void *rhs, void *args);
	/* NULL: bytes are exchanged. */
	void (*swp)(void *lhs, void *rhs, void *args);
};

static inline void kapi_heap_swap(char *lhs, char *rhs, size_t size, const struct min_heap_callbacks *func, void *args)
{
	if (func->swp) {
		func->swp(lhs, rhs, args);
		return;
	}
	while (size--) {
		char old = lhs[size];

		lhs[size] = rhs[size];
		rhs[size] = old;
	}
}

static inline void kapi_heap_up(char *data, size_t index, size_t size, const struct min_heap_callbacks *func, void *args)
{
	while (index) {
		size_t parent = (index - 1) / 2;

		if (!func->less(data + index * size, data + parent * size, args))
			return;
		kapi_heap_swap(data + index * size, data + parent * size, size, func, args);
		index = parent;
	}
}

static inline void kapi_heap_down(char *data, size_t nr, size_t index, size_t size,
				  const struct min_heap_callbacks *func, void *args)
{
	for (;;) {
		size_t least = index, child = 2 * index + 1, end = child + 2 < nr ? child + 2 : nr;

		for (; child < end; child++)
			if (func->less(data + child * size, data + least * size, args))
				least = child;
		if (least == index)
			return;
		kapi_heap_swap(data + index * size, data + least * size, size, func, args);
		index = least;
	}
}

static inline void __min_heap_init(min_heap_char *heap, void *data, size_t size)
{
	heap->nr = 0;
	heap->size = size;
	heap->data = data ? data : heap->preallocated;
}

static inline void __min_heap_sift_down(min_heap_char *heap, size_t pos, size_t size,
					const struct min_heap_callbacks *func, void *args)
{
	kapi_heap_down(heap->data, heap->nr, pos, size, func, args);
}

static inline void __min_heap_sift_up(min_heap_char *heap, size_t size, size_t pos,
				      const struct min_heap_callbacks *func, void *args)
{
	kapi_heap_up(heap->data, pos, size, func, args);
}

static inline void __min_heapify_all(min_heap_char *heap, size_t size, const struct min_heap_callbacks *func,
				     void *args)
{
	size_t index;

	for (index = heap->nr / 2; index--;)
		kapi_heap_down(heap->data, heap->nr, index, size, func, args);
}

/* Takes the element at @pos out; the last one goes where order allows. */
static inline bool __min_heap_del(min_heap_char *heap, size_t size, size_t pos, const struct min_heap_callbacks *func,
				  void *args)
{
	if (WARN_ONCE(heap->nr <= pos, "element %zu of a heap of %zu", pos, heap->nr))
		return false;
	heap->nr--;
	if (pos == heap->nr)
		return true;
	kapi_heap_swap(heap->data + pos * size, heap->data + heap->nr * size, size, func, args);
	kapi_heap_up(heap->data, pos, size, func, args);
	kapi_heap_down(heap->data, heap->nr, pos, size, func, args);
	return true;
}

static inline bool __min_heap_pop(min_heap_char *heap, size_t size, const struct min_heap_callbacks *func, void *args)
{
	if (WARN_ONCE(!heap->nr, "popping an empty heap"))
		return false;
	heap->nr--;
	memmove(heap->data, heap->data + heap->nr * size, heap->nr ? size : 0);
	kapi_heap_down(heap->data, heap->nr, 0, size, func, args);
	return true;
}

static inline void __min_heap_pop_push(min_heap_char *heap, const void *element, size_t size,
				       const struct min_heap_callbacks *func, void *args)
{
	memcpy(heap->data, element, size);
	kapi_heap_down(heap->data, heap->nr, 0, size, func, args);
}

static inline bool __min_heap_push(min_heap_char *heap, const void *element, size_t size,
				   const struct min_heap_callbacks *func, void *args)
{
	if (WARN_ONCE(heap->nr >= heap->size, "pushing on a full heap"))
		return false;
	memcpy(heap->data + heap->nr * size, element, size);
	kapi_heap_up(heap->data, heap->nr++, size, func, args);
	return true;
}

#define __minheap_obj_size(heap) (sizeof((heap)->data[0]))
#define __KAPI_HEAP(heap) ((min_heap_char *)(heap))
#define min_heap_init(heap, data, size) __min_heap_init(__KAPI_HEAP(heap), data, size)
#define min_heap_peek(heap) ((heap)->nr ? (heap)->data : NULL)
#define min_heap_full(heap) ((heap)->nr == (heap)->size)
#define min_heap_sift_down(heap, pos, func, args) \
	__min_heap_sift_down(__KAPI_HEAP(heap), pos, __minheap_obj_size(heap), func, args)
#define min_heap_sift_up(heap, pos, func, args) \
	__min_heap_sift_up(__KAPI_HEAP(heap), __minheap_obj_size(heap), pos, func, args)
#define min_heapify_all(heap, func, args) __min_heapify_all(__KAPI_HEAP(heap), __minheap_obj_size(heap), func, args)
#define min_heap_pop(heap, func, args) __min_heap_pop(__KAPI_HEAP(heap), __minheap_obj_size(heap), func, args)
#define min_heap_pop_push(heap, element, func, args) \
	__min_heap_pop_push(__KAPI_HEAP(heap), element, __minheap_obj_size(heap), func, args)
#define min_heap_push(heap, element, func, args) \
	__min_heap_push(__KAPI_HEAP(heap), element, __minheap_obj_size(heap), func, args)
#define min_heap_del(heap, pos, func, args) \
	__min_heap_del(__KAPI_HEAP(heap), __minheap_obj_size(heap), pos, func, args)
#define min_heap_init_inline(heap, data, size) min_heap_init(heap, data, size)
#define min_heap_peek_inline(heap) min_heap_peek(heap)
#define min_heap_full_inline(heap) min_heap_full(heap)
#define min_heap_sift_down_inline(heap, pos, func, args) min_heap_sift_down(heap, pos, func, args)
#define min_heap_sift_up_inline(heap, pos, func, args) min_heap_sift_up(heap, pos, func, args)
#define min_heapify_all_inline(heap, func, args) min_heapify_all(heap, func, args)
#define min_heap_pop_inline(heap, func, args) min_heap_pop(heap, func, args)
#define min_heap_pop_push_inline(heap, element, func, args) min_heap_pop_push(heap, element, func, args)
#define min_heap_push_inline(heap, element, func, args) min_heap_push(heap, element, func, args)
#define min_heap_del_inline(heap, pos, func, args) min_heap_del(heap, pos, func, args)

#endif
