/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The configuration: an x86-64 SMP kernel with modules, /proc and loadable everything.
 * Included before each file, as the kernel's own build does. */
#ifndef _LINUX_KCONFIG_H
#define _LINUX_KCONFIG_H

#define CONFIG_64BIT 1
#define CONFIG_X86 1
#define CONFIG_X86_64 1
#define CONFIG_SMP 1
#define CONFIG_MMU 1
#define CONFIG_MODULES 1
#define CONFIG_MODULE_UNLOAD 1
#define CONFIG_PROC_FS 1
#define CONFIG_PRINTK 1
#define CONFIG_BUG 1
#define CONFIG_HZ 250
#define CONFIG_HZ_250 1
#define CONFIG_NR_CPUS 4096
#define CONFIG_PREEMPT_COUNT 1
#define CONFIG_XARRAY_MULTI 1
#define CONFIG_SLUB_DEBUG 1
#define CONFIG_ZONE_DMA 1
#define CONFIG_ZONE_DMA32 1
#define CONFIG_VIRTUAL_MEM_MAP 1
#define CONFIG_KALLSYMS 1
#define CONFIG_DEBUG_BUGVERBOSE 1
#define CONFIG_SYSCTL 1
#define CONFIG_PROC_SYSCTL 1
#define CONFIG_CRC7 1
#define CONFIG_CRC16 1
#define CONFIG_CRC_T10DIF 1
#define CONFIG_CRC32 1
#define CONFIG_CRC64 1
#ifdef __x86_64__
#define CONFIG_KPROBES 1
#define CONFIG_KRETPROBES 1
#define CONFIG_FPROBE 1
#define CONFIG_LIVEPATCH 1
#endif
/* Tests of the library itself may look at its inside. */
#define CONFIG_PRIME_NUMBERS_KUNIT_TEST 1

#define __KAPI_ARG_2(ignored, value, ...) value
#define __KAPI_IS_1_1 0,
#define __KAPI_IS_SET(probe) __KAPI_ARG_2(probe 1, 0, 0)
#define __KAPI_IS(value) __KAPI_IS_SET(__KAPI_IS_1_##value)
#define __KAPI_IS_VALUE(value) __KAPI_IS(value)
#define IS_BUILTIN(option) __KAPI_IS_VALUE(option)
#define IS_MODULE(option) __KAPI_IS_VALUE(option##_MODULE)
#define IS_ENABLED(option) (IS_BUILTIN(option) || IS_MODULE(option))
#define IS_REACHABLE(option) IS_ENABLED(option)

/* Number of arguments, 0 to 8, and the choice of a macro by it: forms whose arguments changed. */
#define __KAPI_COUNT(ignored, a, b, c, d, e, f, g, h, n, ...) n
#define KAPI_ARGS(...) __KAPI_COUNT(0, ##__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define __KAPI_JOIN(a, b) a##b
#define KAPI_JOIN(a, b) __KAPI_JOIN(a, b)
#define KAPI_BY_COUNT(name, ...) KAPI_JOIN(name, KAPI_ARGS(__VA_ARGS__))(__VA_ARGS__)

#endif
