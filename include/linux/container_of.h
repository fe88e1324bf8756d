/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* From a member to the structure around it. */
#ifndef _LINUX_CONTAINER_OF_H
#define _LINUX_CONTAINER_OF_H

#include <linux/build_bug.h>
#include <linux/stddef.h>

#define container_of(ptr, type, member) ({ \
	const typeof(((type *)0)->member) *__kapi_member = (const void *)(ptr); \
	(type *)((char *)__kapi_member - offsetof(type, member)); })
#define container_of_const(ptr, type, member) container_of(ptr, type, member)
#define typeof_member(type, member) typeof(((type *)0)->member)

#endif
