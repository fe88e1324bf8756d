/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Memory-mapped and port input and output: nothing is mapped in user space. */
#ifndef _LINUX_IO_H
#define _LINUX_IO_H

#include <asm/page.h>
#include <linux/types.h>

#endif
