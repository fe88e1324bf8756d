/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the host gives to the C runtime, and the runtime to the host. Not for modules. */
#ifndef _HOST_H
#define _HOST_H

#include <linux/stdarg.h>
#include <linux/compiler.h>
#include <linux/types.h>

/* One argument of a printing function, fetched for the host: its kinds. */
enum kapi_arg {
	KAPI_ARG_INT,
	KAPI_ARG_LONG,
	KAPI_ARG_LLONG,
	KAPI_ARG_POINTER
};

/* The value of a call that takes the arguments behind @last as a list, `args`. */
#define WITH_ARGS(last, call) ({ \
	va_list args; \
	va_start(args, last); \
	__auto_type __result = (call); \
	va_end(args); \
	__result; })

/* The value of an expression, taken under a spinlock. */
#define UNDER_LOCK(lock, value) ({ \
	unsigned long __flags; \
	spin_lock_irqsave(lock, __flags); \
	__auto_type __result = (value); \
	spin_unlock_irqrestore(lock, __flags); \
	__result; })

/* Where the runtime's own code begins and ends. */
extern const char kapi_runtime_begin[], kapi_runtime_end[];

/* Whether a function is the runtime's own. */
static inline bool kapi_is_own(const void *fn)
{
	return (const char *)fn >= kapi_runtime_begin && (const char *)fn < kapi_runtime_end;
}

/* Says that a function of the runtime, at @inside, may sleep: an error of the module at @site where nobody may. */
extern void kapi_may_sleep(unsigned long inside, unsigned long site);

/* Frames of the runtime below the module's at most. */
#define FRAMES_MAX 32

/* Where the caller is. */
static inline __attribute__((__always_inline__)) unsigned long kapi_here(void)
{
	unsigned long here;

#ifdef __x86_64__
	__asm__("lea 0(%%rip), %0" : "=r"(here));
#else
	__asm__("adr %0, ." : "=r"(here));
#endif
	return here;
}

/* The place in the module that called into the runtime, found by the frame pointers, which the runtime is compiled with;
 * and one in the function that it called. */
static inline __attribute__((__always_inline__)) unsigned long kapi_module_call(unsigned long *inside)
{
	unsigned long *frame = __builtin_frame_address(0), site = frame[1];
	int i;

	*inside = kapi_here();

	for (i = 0; i < FRAMES_MAX && site >= (unsigned long)kapi_runtime_begin && site < (unsigned long)kapi_runtime_end; i++) {
		*inside = site;
		frame = (unsigned long *)frame[0];
		site = frame[1];
	}
	return site;
}

static inline __attribute__((__always_inline__)) unsigned long kapi_module_site(void)
{
	unsigned long inside;

	return kapi_module_call(&inside);
}

/* A place in the module or the runtime in half of the bytes, from the runtime's beginning on; 0 for one elsewhere. */
static inline s32 kapi_site_pack(unsigned long site)
{
	long from = (long)(site - (unsigned long)kapi_runtime_begin);

	return from == (s32)from ? (s32)from : 0;
}
static inline unsigned long kapi_site_of(s32 packed)
{
	return packed ? (unsigned long)kapi_runtime_begin + (unsigned long)(long)packed : 0;
}

/* Before <linux/kernel.h>: that of a module says where it stands, that of the runtime who called. */
#define might_sleep() do { \
	unsigned long __inside, __site = kapi_module_call(&__inside); \
	kapi_may_sleep(__inside, __site); \
} while (0)

/* Host: locks that a thread holds and has to give up itself; one is given up that nobody holds. */
extern void kapi_lock_wanted(const void *lock, unsigned int how, unsigned long site);
extern void kapi_lock_taken(const void *lock, unsigned int how, unsigned long site);
extern void kapi_lock_given(const void *lock);
extern void kapi_not_locked(void);

/* A second name of a function of the same file. */
#define SAME_AS(name, other) extern typeof(other) name __attribute__((__alias__(#other)))

struct kapi_args {
	va_list list;
};
typedef u64 (*kapi_fetch_t)(struct kapi_args *args, int kind);

/* Host: formats as printf, returns the length that the whole would have. */
extern int kapi_format(char *buf, size_t size, const char *fmt, struct kapi_args *args, kapi_fetch_t fetch,
		       unsigned long site);
/* Host: takes text with its level marks to the log. */
extern void kapi_log(const char *text, size_t len);
/* Host: ends the run; does not return. */
extern void kapi_stop(const char *why, size_t len) __attribute__((__noreturn__));
/* Host: output of the file that is being read. */
extern void kapi_output(const char *text, size_t len);
/* Host: memory that is no module's, so that no check counts it. */
extern void *kapi_alloc(size_t size);
extern void kapi_free(void *p, size_t size);

struct kmem_cache;
/* Host: as the functions without the ending, for the caller at @site. */
extern void *kapi_kmalloc_for(size_t size, gfp_t gfp, unsigned long site);
extern void *kapi_cache_alloc_for(struct kmem_cache *cache, gfp_t gfp, unsigned long site);
extern void kapi_kfree_for(const void *p, unsigned long site);
extern void kapi_kvfree_for(const void *p, unsigned long site);
extern void kapi_cache_free_for(struct kmem_cache *cache, void *object, unsigned long site);
/* Host: nodes and caches are made for the caller at @site. */
extern void kapi_nodes_for(unsigned long site);
/* Host: @name reads at an address for the caller at @site. */
extern void kapi_reads(const char *name, const void *from, unsigned long site);
/* Host: what is checked (--check), and whether exit has begun. */
extern unsigned int kapi_check, kapi_exits;
extern struct page *kapi_alloc_pages_for(gfp_t gfp, unsigned int order, unsigned long site);
extern void kapi_free_pages_for(struct page *page, unsigned int order, unsigned long site);
extern void *kapi_vmap_for(struct page **pages, unsigned long count, unsigned long site);
extern void kapi_vunmap_for(const void *addr, unsigned long site);
extern void *kapi_alloc_percpu_for(size_t size, size_t align, unsigned long site);
/* Host: pages that no check counts, for what the runtime divides further. */
extern struct page *kapi_take_pages(gfp_t gfp, unsigned int order);
extern void kapi_give_pages(struct page *page, unsigned int order);
/* Host: such pages are the module's from now on, which __free_pages() frees. */
extern void kapi_enter_pages(struct page *page, unsigned int order, unsigned long site);

/* What the runtime makes of memory that is no module's: `MADE` in ledger.rs. */
enum kapi_made {
	KAPI_MADE_PERCPU,
	KAPI_MADE_VMAP,
	KAPI_MADE_DMA_POOL,
	KAPI_MADE_GEN_POOL,
	KAPI_MADE_PAGE_POOL
};
/* Host: a module got it, and gives it back; false if it has no such thing, which is reported. */
extern void kapi_made(const void *p, size_t size, unsigned int what, unsigned long site);
extern bool kapi_unmade(const void *p, unsigned int what, unsigned long site);

/* Runtime: pieces of page blocks for the data of frames, and a reference to a page that may be such a block's. */
extern void *kapi_frame_piece(unsigned int size, gfp_t gfp);
extern void kapi_frame_put(struct page *page);
/* Runtime: gives a page back to the pool that it is of; false if it is of none. */
extern bool kapi_pool_put(struct page *page);
extern void kapi_skb_put_page(struct page *page, bool recycle);

/* Host: threads and sleeping. A timeout is in nanoseconds, negative for none. */
extern int kapi_thread_start(void (*fn)(void *), void *arg);
extern void kapi_thread_exit(void) __attribute__((__noreturn__));
extern void kapi_task_set(void *task, int cpu);
extern void kapi_futex_wait(const volatile unsigned int *word, unsigned int value, s64 timeout_ns);
extern void kapi_futex_wake(const volatile unsigned int *word, int count);
extern void kapi_softirq_enter(void);
extern void kapi_softirq_exit(void);
extern void kapi_hardirq_enter(void);
extern void kapi_hardirq_exit(void);

/* A cache of the runtime's own, or one that the kernel has no function to destroy. */
#define KAPI_SLAB_STAYS ((slab_flags_t)0x80000000U)

/* Runtime: frees an object after a grace period. */
extern void kapi_cache_free_rcu(struct kmem_cache *cache, void *object);

/* Runtime: folders under /sys that are no module's. */
extern struct kobject *kapi_devices_kobj(void);
extern struct kobject *kapi_class_kobj(void);
extern struct kobject *kapi_bus_kobj(void);
struct device;
extern void kapi_bus_add(struct device *dev);
extern void kapi_bus_del(struct device *dev);
extern struct kobject *kapi_folder_kobj(struct kobject *parent, const char *name);
struct kobj_type;
/* The type of such a folder's files, and whose they are. */
extern void kapi_folder_own(struct kobject *kobj, const struct kobj_type *type, void *owner);
extern void *kapi_folder_owner(struct kobject *kobj);
extern void kapi_folder_remove(struct kobject *kobj);

/* Runtime: a user's memory, in buffers. */
#define KAPI_USER_BUFFERS 64
#define KAPI_USER_BYTES 65536
extern char __user *kapi_user_take(void);
extern void kapi_user_give(char __user *buffer);

/* Runtime: processes that use the module's files. */
extern struct task_struct *kapi_process_new(const char *name, uid_t uid);
extern void kapi_process_end(struct task_struct *task);
/* Host: copies from an address that may lead nowhere. */
extern bool kapi_read_nofault(void *to, const void *from, u64 size);
/* Host: sleeps, whatever the caller's state is. */
extern void kapi_host_sleep(u64 ms);
/* Host: pages that the process has in memory. */
extern u64 kapi_rss_pages(void);

/* Runtime: what stands for the module outside of it, and is to be gone when it is (left.c). */
#define KAPI_THREAD "the thread"
#define KAPI_CALLBACK "the RCU callback"
extern void kapi_stands(const void *what, const char *kind, const char *name);
extern void kapi_stands_at(const void *what, const char *kind, const char *name, unsigned long site);
extern void kapi_stands_by(const void *what, const char *kind, const void *fn);
extern void kapi_gone(const void *what);
extern bool kapi_any_stands(const char *kind);
extern void kapi_tell_left(const char *kind, const char *name, unsigned long site);
extern void kapi_tell_standing(void);
extern void kapi_tell_timers(void);
extern int kapi_users(void);
extern void kapi_tell_users(void);
extern void kapi_tell_all(void);
/* Takes what is armed in memory that is freed at @site off its lists, and tells it. */
extern void kapi_forget_objects(unsigned long start, unsigned long bytes, unsigned long site);
extern void kapi_forget_devices(unsigned long start, unsigned long bytes);
extern void kapi_forget_callbacks(unsigned long start, unsigned long bytes);
extern void kapi_forget_standing(unsigned long start, unsigned long bytes, unsigned long site);
extern void kapi_forget_timers(unsigned long start, unsigned long bytes, unsigned long site);
extern void kapi_forget(unsigned long start, unsigned long bytes, unsigned long site);
/* Host: something is wrong, at @site. */
enum kapi_misuse {
	KAPI_LEFT,
	KAPI_REFERENCE,
	KAPI_OBJECT
};
extern void kapi_misuse(enum kapi_misuse kind, const char *text, size_t len, unsigned long site);

/* Runtime: /proc, and what stands in /dev. */
struct proc_dir_entry;
struct file;
extern struct proc_dir_entry *kapi_proc_walk(struct proc_dir_entry *at, const char **path);
extern long kapi_device_find(const char *name, struct file *file);
extern int kapi_mknod(const char *path, const char *major, unsigned int minor);
extern bool kapi_device_number(const char *name, dev_t *number);
extern void kapi_list_devices(void);
extern int kapi_irq_raise(unsigned int irq);
extern void kapi_list_numbered(void);

/* Runtime: character devices by name, and devices for the caller at @site. */
struct miscdevice;
struct class;
struct device;
struct attribute_group;
extern void kapi_misc_add(struct miscdevice *misc);
extern bool kapi_misc_has(int minor);
extern struct device *kapi_device_for(const struct class *class, struct device *parent, dev_t devt, void *data,
				      const struct attribute_group **groups, const char *name, unsigned long site);

/* Runtime: a network device goes up, and is down; what it received; and frames on their way are there. */
struct net_device;
extern void kapi_net_begin(struct net_device *dev);
/*
 * Runtime: blocks of a device, for the caller at @site or, if that is 0, the runtime's own. What is given back a second time
 * is told, as far as it is remembered.
 */
extern void *kapi_net_take(size_t bytes, unsigned long site);
extern struct net_device *kapi_net_make(size_t size, const char *name, void (*setup)(struct net_device *dev), unsigned int txqs,
					unsigned int rxqs, unsigned long site);
extern void kapi_net_give_back(struct net_device *dev, unsigned long site);
extern bool kapi_net_freed_again(const struct net_device *dev, unsigned long site);
extern void kapi_net_end(struct net_device *dev);
extern bool kapi_net_line(int ifindex, char *text, size_t size);
extern void kapi_net_settle(void);
/* Runtime: what steps ask of devices; texts go into a buffer, and *@out is their length. */
extern long kapi_net_up(const char *name, bool up);
extern long kapi_net_udp(const char *name, __be32 from, __be32 to, const char *text, size_t len);
extern long kapi_net_received(const char *name, char *buf, size_t size, size_t *out);
extern long kapi_net_stat(const char *name, char *buf, size_t size, size_t *out);
extern long kapi_net_ethtool(const char *name, char *buf, size_t size, size_t *out);
/* Runtime: a packet's buffer that counts as allocated at @site. */
struct sk_buff;
extern struct sk_buff *kapi_skb_for(unsigned int size, gfp_t gfp, unsigned long site);

/* Runtime: the user of netlink, who sends messages and shows what came back; and the runtime's own socket. */
struct sock;
struct nlmsghdr;
struct netlink_kernel_cfg;
extern long kapi_netlink_send(int protocol, int type, int flags, const void *payload, size_t len);
extern size_t kapi_netlink_texts(int protocol, char *to, size_t size);
extern long kapi_genl_send(const char *name, int cmd, int flags, const void *attributes, size_t len);
extern struct sock *kapi_netlink_open(int unit, const struct netlink_kernel_cfg *cfg);
extern void kapi_netlink_describe(size_t (*fn)(char *to, size_t size, const struct nlmsghdr *nlh));

/* Runtime: called by the host. */
extern void kapi_runtime_start(void);
extern int kapi_run_suites(void);
extern long kapi_read_file(const char *path);
extern long kapi_write_file(const char *path, const char *text, size_t len);
extern void kapi_list_files(void);
struct kapi_step;
extern void kapi_step(const struct kapi_step *step);
extern void kapi_steps_end(void);
extern unsigned long kapi_reclaim(gfp_t gfp, unsigned int priority);

#endif
