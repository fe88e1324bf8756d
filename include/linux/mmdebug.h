/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Checks of the memory manager. */
#ifndef _LINUX_MMDEBUG_H
#define _LINUX_MMDEBUG_H

#include <linux/bug.h>

#define VM_BUG_ON(condition) BUG_ON(condition)
#define VM_BUG_ON_PAGE(condition, page) BUG_ON(condition)
#define VM_WARN_ON(condition) (void)WARN_ON(condition)
#define VM_WARN_ON_ONCE(condition) (void)WARN_ON_ONCE(condition)

#endif
