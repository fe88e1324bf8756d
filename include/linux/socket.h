/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Addresses of sockets, as structures of memory: there is no network here. */
#ifndef _LINUX_SOCKET_H
#define _LINUX_SOCKET_H

#include <linux/types.h>

#define AF_UNSPEC 0
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define AF_NETLINK 16

typedef unsigned short sa_family_t;

struct sockaddr {
	sa_family_t sa_family;
	char sa_data[14];
};

#endif
