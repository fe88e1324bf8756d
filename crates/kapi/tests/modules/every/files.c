/* Every macro of files, devices, attributes, parameters, messages and the module itself. */
#include <linux/cdev.h>
#include <linux/compiler.h>
#include <linux/debugfs.h>
#include <linux/device.h>
#include <linux/export.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/kmod.h>
#include <linux/kobject.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/stdarg.h>
#include <linux/sysfs.h>

static long sum;
static int number = 1, named = 2, unsafe = 3, hardware = 4, core = 5, called = 6, with_ops = 7;
static int array[4], other_array[4], array_count, old_style;
static char text[16];
module_param(number, int, 0644);
MODULE_PARM_DESC(number, "a number");
module_param_named(name, named, int, 0);
module_param_unsafe(unsafe, int, 0);
module_param_hw(hardware, int, irq, 0);
core_param(core, core, int, 0);
module_param_array(array, int, &array_count, 0);
module_param_array_named(other, other_array, int, NULL, 0);
module_param_string(text, text, sizeof(text), 0);
module_param_call(called, param_set_int, param_get_int, &called, 0);
module_param_cb(with_ops, &param_ops_int, &with_ops, 0);
MODULE_PARM(old_style, "1-4i");
__setup("every=", NULL);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("nobody");
MODULE_DESCRIPTION("every macro");
MODULE_VERSION("1");
MODULE_ALIAS("every");
MODULE_ALIAS_MISCDEV(5);
MODULE_SOFTDEP("pre: nothing");
MODULE_FIRMWARE("none");
MODULE_IMPORT_NS(NOTHING);
MODULE_SUPPORTED_DEVICE("none");
MODULE_DEVICE_TABLE(pci, none);
MODULE_INFO(any, "thing");
__MODULE_INFO(other, thing, "too");

int exported __section(".data") __aligned(16);
extern int aliased __alias(exported);
EXPORT_SYMBOL(exported);
EXPORT_SYMBOL_GPL(exported);
EXPORT_SYMBOL_NS(exported, EVERY);
EXPORT_SYMBOL_NS_GPL(exported, EVERY);

static int get(void *data, u64 *value)
{
	*value = sizeof(data);
	return 0;
}

static int set(void *data, u64 value) { return data && value ? -EINVAL : 0; }
DEFINE_SIMPLE_ATTRIBUTE(simple_fops, get, set, "%llu\n");
DEFINE_SIMPLE_ATTRIBUTE_SIGNED(simple_signed_fops, get, NULL, "%lld\n");
DEFINE_DEBUGFS_ATTRIBUTE(debugfs_fops, get, set, "%llu\n");
DEFINE_DEBUGFS_ATTRIBUTE_SIGNED(debugfs_signed_fops, NULL, set, "%lld\n");

typedef int byte __mode(QI);
struct counted {
	int count;
	int values[] __counted_by(count);
};

static void leave(int *value)
{
	sum += *value;
}

static __printf(1, 2) void take(const char *fmt, ...)
{
	va_list list, again;

	va_start(list, fmt);
	va_copy(again, list);
	sum += va_arg(list, int) + va_arg(again, int);
	va_end(again);
	va_end(list);
}

static __scanf(1, 0) int old_call FASTCALL((const char *fmt));
static int old_call(const char *fmt)
{
	return fmt != NULL;
}
static void *__alloc_size(1) __assume_aligned(8) block(size_t size)
{
	return kmalloc(size, GFP_KERNEL);
}
static void lock_it(int *lock) __acquires(lock) __must_hold(lock)
{
	__acquire(lock);
}
static void unlock_it(int *lock) __releases(lock)
{
	__release(lock);
}

static ssize_t one_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf) { return 0; }
static ssize_t one_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf, size_t n)
{
	return (ssize_t)n;
}
#define two_show one_show
#define two_store one_store
static struct kobj_attribute attributes[] = {
	__ATTR(one, 0644, one_show, one_store),
	__ATTR_RO(one),
	__ATTR_RO_MODE(one, 0400),
	__ATTR_WO(one),
	__ATTR_RW(two),
	__ATTR_RW_MODE(two, VERIFY_OCTAL_PERMISSIONS(0600)),
};
static struct attribute *every_attrs[] = { &attributes[0].attr, NULL };
ATTRIBUTE_GROUPS(every);
static const struct attribute_group second_group = { .attrs = every_attrs };
__ATTRIBUTE_GROUPS(second);

static int shown_show(struct seq_file *m, void *v)
{
	return seq_has_overflowed(m);
}
DEFINE_SHOW_ATTRIBUTE(shown);
#define proc_shown_show shown_show
DEFINE_PROC_SHOW_ATTRIBUTE(proc_shown);
static void *start(struct seq_file *m, loff_t *pos) { return NULL; }
static void *next(struct seq_file *m, void *v, loff_t *pos) { return NULL; }
static void stop(struct seq_file *m, void *v) {}
static const struct seq_operations listed_sops = { start, stop, next, shown_show };
DEFINE_SEQ_ATTRIBUTE(listed);

void files(void)
{
	struct inode inode = { .i_rdev = MKDEV(1, 2) };
	struct proc_dir_entry *entry = proc_create("every", 0444, NULL, &shown_fops);
	struct kobject object = { NULL };
	struct class *class = class_create("every"), *old = class_create(THIS_MODULE, "every_old");
	struct file_operations fops;

	SET_MODULE_OWNER(&fops);
	proc_set_size(entry, 5);
	proc_set_user(entry, 0, 0);
	proc_create_data("every_data", 0444, NULL, &proc_shown_proc_ops, NULL);
	proc_create_single("every_single", 0444, NULL, shown_show);
	proc_create_seq("every_seq", 0444, NULL, &listed_sops);
	proc_create_seq_data("every_seq_data", 0444, NULL, &listed_sops, NULL);
	proc_mkdir_mode("every_dir", 0555, NULL);
	create_proc_entry("every_old", 0444, NULL);
	sum += PDE_DATA(&inode) != NULL;
	sum += iminor(&inode) + imajor(&inode);
	sysfs_attr_init(&attributes[0].attr);
	sysfs_notify(&object, NULL, "one");
	sum += every_groups[0] != second_groups[0] && listed_fops.open != shown_fops.open;
	dev_err(NULL, "error %d\n", 1);
	dev_warn(NULL, "warning %d\n", 1);
	dev_info(NULL, "information %d\n", 1);
	dev_dbg(NULL, "debug %d\n", 1);
	class_destroy(class);
	class_destroy(old);
	proc_remove(entry);
	remove_proc_entry("every_data", NULL);
	remove_proc_entry("every_single", NULL);
	remove_proc_entry("every_seq", NULL);
	remove_proc_entry("every_seq_data", NULL);
	remove_proc_entry("every_dir", NULL);
	remove_proc_entry("every_old", NULL);
}

void messages(void)
{
	static u8 bytes[4];
	int left __cleanup(leave) = 1;

	pr_emerg("%d\n", 1);
	pr_alert("%d\n", 1);
	pr_crit("%d\n", 1);
	pr_err("%d\n", 1);
	pr_warn("%d\n", 1);
	pr_notice("%d ", 1);
	pr_cont("%d\n", 1);
	pr_info("%d\n", 1);
	pr_debug("%d\n", 1);
	pr_devel("%d\n", 1);
	no_printk("%d\n", 1);
	printk(pr_fmt("%d\n"), 1);
	pr_emerg_once("%d\n", 1);
	pr_err_once("%d\n", 1);
	pr_warn_once("%d\n", 1);
	pr_info_once("%d\n", 1);
	printk_once("%d\n", 1);
	printk_ratelimited("%d\n", 1);
	pr_err_ratelimited("%d\n", 1);
	pr_warn_ratelimited("%d\n", 1);
	pr_info_ratelimited("%d\n", 1);
	trace_printk("%d\n", 1);
	print_hex_dump_bytes("bytes ", DUMP_PREFIX_NONE, bytes, 4);
	might_sleep();
	might_sleep_if(left);
	cant_sleep();
	BUG_ON(left == 5);
	sum += WARN(left == 5, "five %d\n", left) + WARN_ON(left == 5) + WARN_ON_SMP(left == 5);
	sum += WARN_ONCE(left == 5, "five\n") + WARN_ON_ONCE(left == 5);
	if (left == 5)
		BUG();
	__chk_user_ptr(bytes);
	sum += __cond_lock(bytes, left);
	take("%d", 1);
	sum += old_call("");
	kfree(block(5));
	lock_it(&left);
	unlock_it(&left);
}

static_assert(_IO('k', 1) == 0x6b01 && _IOR('k', 2, int) == 0x80046b02);
static_assert(_IOW('k', 3, char) == 0x40016b03 && _IOWR('k', 4, long) == 0xc0086b04);
static_assert(_IOC_DIR(_IOC(_IOC_READ, 'k', 5, 6)) == _IOC_READ && _IOC_TYPE(_IO('k', 5)) == 'k');
static_assert(_IOC_NR(_IO('k', 5)) == 5 && _IOC_SIZE(_IOR('k', 5, long)) == 8);

void the_module(void)
{
	u64 u64s;
	s64 s64s;
	u32 u32s;
	s32 s32s;
	unsigned long longs;
	long signeds;
	bool truth;

	sum += request_module("none-%d", 1) + request_module_nowait("none");
	__module_get(THIS_MODULE);
	sum += module_refcount(THIS_MODULE) + module_name(THIS_MODULE)[0];
	module_put(THIS_MODULE);
	sum += symbol_get(exported) == &exported;
	symbol_put(exported);
	sum += kstrtou32("1", 0, &u32s) + kstrtos32("1", 0, &s32s) + kstrtou64("1", 0, &u64s);
	sum += kstrtos64("1", 0, &s64s) + strict_strtoul("1", 0, &longs) + strict_strtol("1", 0, &signeds);
	sum += !simple_fops.read + !simple_signed_fops.read + !debugfs_fops.write + !debugfs_signed_fops.write;
	sum += strtobool("y", &truth) + sizeof(byte) + sizeof(struct counted) + aliased;
}

static int __init every_init(void)
{
	messages();
	the_module();
	return 0;
}

static void __exit every_exit(void)
{
	files();
}
module_init(every_init);
__exitcall(__exit_p(every_exit));
void (*gone)(void) = __devexit_p(every_exit);
