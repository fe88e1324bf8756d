/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Device numbers: 12 bits of major, 20 of minor. */
#ifndef _LINUX_KDEV_T_H
#define _LINUX_KDEV_T_H

#include <linux/types.h>

#define MINORBITS 20
#define MINORMASK ((1U << MINORBITS) - 1)
#define MAJOR(dev) ((unsigned int)((dev) >> MINORBITS))
#define MINOR(dev) ((unsigned int)((dev) & MINORMASK))
#define print_dev_t(buffer, dev) sprintf((buffer), "%u:%u\n", MAJOR(dev), MINOR(dev))
#define format_dev_t(buffer, dev) ({ sprintf((buffer), "%u:%u", MAJOR(dev), MINOR(dev)); (buffer); })
#define MKDEV(major, minor) (((dev_t)(major) << MINORBITS) | (minor))

#endif
