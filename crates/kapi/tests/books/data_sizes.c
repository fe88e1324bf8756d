/* How large the kernel's types are and how they are aligned; the module refuses to stay, as such modules do. */
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/types.h>
#include <linux/utsname.h>
#include <linux/byteorder/generic.h>
#include <asm/byteorder.h>
#include <asm/unaligned.h>

#define SHOW_ALIGN(type) do { \
	struct { char c; type t; } pair; \
	pr_info("align of " #type ": %2d\n", (int)((char *)&pair.t - &pair.c)); \
} while (0)

static void data_cleanup(void)
{
}

static int __init data_init(void)
{
	static const u8 bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	__le32 little = cpu_to_le32(0x01020304);
	__be16 big = cpu_to_be16(0x0102);

	printk("arch   Size:  char  short  int  long   ptr long-long  u8 u16 u32 u64\n");
	printk("%-12s  %3i   %3i   %3i   %3i   %3i   %3i      %3i %3i %3i %3i\n", init_uts_ns.name.machine, (int)sizeof(char),
	       (int)sizeof(short), (int)sizeof(int), (int)sizeof(long), (int)sizeof(void *), (int)sizeof(long long),
	       (int)sizeof(__u8), (int)sizeof(__u16), (int)sizeof(__u32), (int)sizeof(__u64));
	pr_info("dev_t %zu, loff_t %zu, size_t %zu, pid_t %zu, gfp_t %zu, sector_t %zu\n", sizeof(dev_t), sizeof(loff_t),
		sizeof(size_t), sizeof(pid_t), sizeof(gfp_t), sizeof(sector_t));
	SHOW_ALIGN(char);
	SHOW_ALIGN(short);
	SHOW_ALIGN(long long);
	SHOW_ALIGN(u16);
	SHOW_ALIGN(void *);
	pr_info("%02x %02x, unaligned %x %x %llx\n", *(u8 *)&little, *(u8 *)&big, get_unaligned((u32 *)(bytes + 1)),
		get_unaligned_be16(bytes + 1), get_unaligned_le64(bytes + 1));
	pr_info("%x %x %llx\n", swab32(0x01020304), be16_to_cpu(big), __swab64(1));
	return -ENODEV;
}

module_init(data_init);
module_exit(data_cleanup);
MODULE_LICENSE("Dual BSD/GPL");
