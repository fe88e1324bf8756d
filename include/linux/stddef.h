/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* NULL, offsetof and what follows from it. */
#ifndef _LINUX_STDDEF_H
#define _LINUX_STDDEF_H

#undef NULL
#define NULL ((void *)0)

#undef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#define sizeof_field(type, member) sizeof((((type *)0)->member))
#define FIELD_SIZEOF(type, member) sizeof_field(type, member)
#define offsetofend(type, member) (offsetof(type, member) + sizeof_field(type, member))
#define struct_group(name, members...) union { struct { members }; struct { members } name; }

#endif
