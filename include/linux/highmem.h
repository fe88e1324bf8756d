/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* High memory: there is none on 64 bits, so kmap() is page_address(). */
#ifndef _LINUX_HIGHMEM_H
#define _LINUX_HIGHMEM_H

#include <linux/mm.h>
#include <linux/string.h>

#define kmap(page) page_address(page)
#define kunmap(page) ((void)(page))
#define kmap_atomic(page, ...) page_address(page)
#define kunmap_atomic(addr, ...) ((void)(addr))
#define kmap_local_page(page) page_address(page)
#define kunmap_local(addr) ((void)(addr))
#define clear_highpage(page) clear_page(page_address(page))
#define PageHighMem(page) ((void)(page), 0)

#endif
