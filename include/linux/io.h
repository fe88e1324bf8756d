/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Memory-mapped and port input and output, without a device behind: what is mapped reads as all ones until it is written,
 * and so do ports, which forget what is written to them.
 *
 * How it works: a mapping is memory of vmalloc()'s, so that one which is not unmapped is a leak.
 * Linux counterpart: include/linux/io.h, include/asm-generic/io.h @ 6.12.
 */
#ifndef _LINUX_IO_H
#define _LINUX_IO_H

#include <asm/page.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>

extern void *vmalloc(unsigned long size);
extern void vfree(const void *addr);

static inline void __iomem *ioremap(phys_addr_t at, size_t bytes)
{
	void *p = bytes ? vmalloc(bytes) : NULL;

	return p ? memset(p, 0xff, bytes) : NULL;
}
static inline void __iomem *ioremap_wc(phys_addr_t at, size_t bytes) { return ioremap(at, bytes); }
static inline void __iomem *ioremap_nocache(phys_addr_t at, size_t bytes) { return ioremap(at, bytes); }
static inline void iounmap(volatile void __iomem *p) { vfree((const void *)p); }

static inline u8 readb(const volatile void __iomem *p) { return *(const volatile u8 *)p; }
static inline u16 readw(const volatile void __iomem *p) { return *(const volatile u16 *)p; }
static inline u32 readl(const volatile void __iomem *p) { return *(const volatile u32 *)p; }
static inline u64 readq(const volatile void __iomem *p) { return *(const volatile u64 *)p; }
static inline void writeb(u8 value, volatile void __iomem *p) { *(volatile u8 *)p = value; }
static inline void writew(u16 value, volatile void __iomem *p) { *(volatile u16 *)p = value; }
static inline void writel(u32 value, volatile void __iomem *p) { *(volatile u32 *)p = value; }
static inline void writeq(u64 value, volatile void __iomem *p) { *(volatile u64 *)p = value; }
static inline u32 readl_relaxed(const volatile void __iomem *p) { return readl(p); }
static inline void writel_relaxed(u32 value, volatile void __iomem *p) { writel(value, p); }
static inline u8 ioread8(const void __iomem *p) { return readb(p); }
static inline u16 ioread16(const void __iomem *p) { return readw(p); }
static inline u32 ioread32(const void __iomem *p) { return readl(p); }
static inline void iowrite8(u8 value, void __iomem *p) { writeb(value, p); }
static inline void iowrite16(u16 value, void __iomem *p) { writew(value, p); }
static inline void iowrite32(u32 value, void __iomem *p) { writel(value, p); }
static inline void memcpy_fromio(void *to, const volatile void __iomem *from, size_t n) { memcpy(to, (const void *)from, n); }
static inline void memcpy_toio(volatile void __iomem *to, const void *from, size_t n) { memcpy((void *)to, from, n); }
static inline void memset_io(volatile void __iomem *p, int value, size_t n) { memset((void *)p, value, n); }

/* Ports. */
static inline u8 inb(int port) { return 0xff; }
static inline u16 inw(int port) { return 0xffff; }
static inline u32 inl(int port) { return 0xffffffff; }
static inline u8 inb_p(int port) { return inb(port); }
static inline void outb(u8 value, int port) { }
static inline void outw(u16 value, int port) { }
static inline void outl(u32 value, int port) { }
static inline void outb_p(u8 value, int port) { }
static inline void insb(int port, void *to, unsigned long n) { memset(to, 0xff, n); }
static inline void insw(int port, void *to, unsigned long n) { memset(to, 0xff, 2 * n); }
static inline void insl(int port, void *to, unsigned long n) { memset(to, 0xff, 4 * n); }
static inline void outsb(int port, const void *from, unsigned long n) { }
static inline void outsw(int port, const void *from, unsigned long n) { }
static inline void outsl(int port, const void *from, unsigned long n) { }

#endif
