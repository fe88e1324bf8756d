/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* struct page: 64 bytes for each page of the machine, in one array. */
#ifndef _LINUX_MM_TYPES_H
#define _LINUX_MM_TYPES_H

#include <linux/list.h>
#include <linux/rwsem.h>
#include <linux/types.h>
#include <linux/atomic.h>
#include <asm/page.h>

struct address_space;
struct kmem_cache;
struct kapi_pool;

struct page {
	unsigned long flags;
	union {
		struct list_head lru;
		struct rcu_head rcu_head;
		/* Of a page that is of a pool (net/page_pool/types.h): whether it is out, and whose. */
		struct {
			unsigned long pp_magic;
			struct kapi_pool *pp;
		};
	};
	union {
		struct address_space *mapping;
		unsigned long dma_addr;
	};
	union {
		pgoff_t index;
		void *freelist;
	};
	union {
		unsigned long private;
		atomic_long_t pp_ref_count;
	};
	atomic_t _mapcount;
	atomic_t _refcount;
	unsigned long kapi_place;
};
/* Of kapi_place: the page heads a compound block, of the order below; or it is in one, at the index below. */
#define KAPI_PAGE_HEAD (1UL << 62)
#define KAPI_PAGE_TAIL (1UL << 63)

struct vm_area_struct;
struct mm_struct {
	struct vm_area_struct *mmap;
	pgd_t *pgd;
	unsigned long total_vm;
	unsigned long start_code, end_code, start_data, end_data;
	unsigned long start_brk, brk, start_stack;
	int map_count;
	unsigned long arg_start, arg_end, env_start, env_end;
	unsigned long hiwater_rss, hiwater_vm, locked_vm, data_vm, stack_vm, exec_vm;
	atomic_t mm_users, mm_count;
	union {
		struct rw_semaphore mmap_lock;
		struct rw_semaphore mmap_sem;
	};
};

#endif
