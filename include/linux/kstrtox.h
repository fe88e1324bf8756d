/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Reading numbers: kstrto*() are strict and return an error, simple_strto*() stop where they must. */
#ifndef _LINUX_KSTRTOX_H
#define _LINUX_KSTRTOX_H

#include <linux/compiler.h>
#include <linux/types.h>

extern int kstrtoull(const char *s, unsigned int base, unsigned long long *res);
extern int kstrtoll(const char *s, unsigned int base, long long *res);
extern int kstrtoul(const char *s, unsigned int base, unsigned long *res);
extern int kstrtol(const char *s, unsigned int base, long *res);
extern int kstrtouint(const char *s, unsigned int base, unsigned int *res);
extern int kstrtoint(const char *s, unsigned int base, int *res);
extern int kstrtou8(const char *s, unsigned int base, u8 *res);
extern int kstrtos8(const char *s, unsigned int base, s8 *res);
extern int kstrtou16(const char *s, unsigned int base, u16 *res);
extern int kstrtos16(const char *s, unsigned int base, s16 *res);
#define kstrtou32(s, base, res) kstrtouint(s, base, res)
#define kstrtos32(s, base, res) kstrtoint(s, base, res)
#define kstrtou64(s, base, res) kstrtoull(s, base, res)
#define kstrtos64(s, base, res) kstrtoll(s, base, res)
/* Of 7.3: numbers with a point, as integers of 10^-scale. */
extern int kstrtoudec64(const char *s, unsigned int scale, u64 *res);
extern int kstrtodec64(const char *s, unsigned int scale, s64 *res);
extern int kstrtobool(const char *s, bool *res);
extern int kstrtoull_from_user(const char __user *s, size_t count, unsigned int base, unsigned long long *res);
extern int kstrtoll_from_user(const char __user *s, size_t count, unsigned int base, long long *res);
extern int kstrtoul_from_user(const char __user *s, size_t count, unsigned int base, unsigned long *res);
extern int kstrtol_from_user(const char __user *s, size_t count, unsigned int base, long *res);
extern int kstrtouint_from_user(const char __user *s, size_t count, unsigned int base, unsigned int *res);
extern int kstrtoint_from_user(const char __user *s, size_t count, unsigned int base, int *res);
extern int kstrtou16_from_user(const char __user *s, size_t count, unsigned int base, u16 *res);
extern int kstrtos16_from_user(const char __user *s, size_t count, unsigned int base, s16 *res);
extern int kstrtou8_from_user(const char __user *s, size_t count, unsigned int base, u8 *res);
extern int kstrtos8_from_user(const char __user *s, size_t count, unsigned int base, s8 *res);
extern int kstrtobool_from_user(const char __user *s, size_t count, bool *res);
static inline int kstrtou64_from_user(const char __user *s, size_t count, unsigned int base, u64 *res)
{
	return kstrtoull_from_user(s, count, base, res);
}
static inline int kstrtos64_from_user(const char __user *s, size_t count, unsigned int base, s64 *res)
{
	return kstrtoll_from_user(s, count, base, res);
}
static inline int kstrtou32_from_user(const char __user *s, size_t count, unsigned int base, u32 *res)
{
	return kstrtouint_from_user(s, count, base, res);
}
static inline int kstrtos32_from_user(const char __user *s, size_t count, unsigned int base, s32 *res)
{
	return kstrtoint_from_user(s, count, base, res);
}
#define strict_strtoul(s, base, res) kstrtoul(s, base, res)
#define strict_strtol(s, base, res) kstrtol(s, base, res)
#define strtobool(s, res) kstrtobool(s, res)

extern unsigned long simple_strtoul(const char *s, char **end, unsigned int base);
extern long simple_strtol(const char *s, char **end, unsigned int base);
extern unsigned long long simple_strtoull(const char *s, char **end, unsigned int base);
extern long long simple_strtoll(const char *s, char **end, unsigned int base);

#endif
