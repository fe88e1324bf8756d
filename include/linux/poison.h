/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Values that show a use after removal. Addresses below the page 0x200 are never mapped. */
#ifndef _LINUX_POISON_H
#define _LINUX_POISON_H

#define POISON_POINTER_DELTA 0xdead000000000000UL
#define LIST_POISON1 ((void *)(0x100 + POISON_POINTER_DELTA))
#define LIST_POISON2 ((void *)(0x122 + POISON_POINTER_DELTA))
#define POISON_INUSE 0x5a
#define POISON_FREE 0x6b
#define POISON_END 0xa5

#endif
