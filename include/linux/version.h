/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The kernel that the module believes to be built for: `slablab insmod --kernel-version`. */
#ifndef _LINUX_VERSION_H
#define _LINUX_VERSION_H

#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + ((c) > 255 ? 255 : (c)))

#ifndef LINUX_VERSION_CODE
#define LINUX_VERSION_CODE KERNEL_VERSION(6, 1, 0)
#endif
#define LINUX_VERSION_MAJOR (LINUX_VERSION_CODE >> 16)
#define LINUX_VERSION_PATCHLEVEL ((LINUX_VERSION_CODE >> 8) & 0xff)
#define LINUX_VERSION_SUBLEVEL (LINUX_VERSION_CODE & 0xff)

#ifndef UTS_RELEASE
#define UTS_RELEASE "6.1.0-slablab"
#endif

#endif
