/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Flags of open(). */
#ifndef _LINUX_FCNTL_H
#define _LINUX_FCNTL_H

#define O_ACCMODE 00000003
#define O_RDONLY 00000000
#define O_WRONLY 00000001
#define O_RDWR 00000002
#define O_CREAT 00000100
#define O_TRUNC 00001000
#define O_APPEND 00002000
#define O_NONBLOCK 00004000

#endif
