/* Files in debugfs that are a number each, beside a file in /proc with the name of their folder. */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

static struct dentry *folder;
static u32 size = 7;
static u64 mask = 0xabc;
static bool enabled = true;
static atomic_t users = ATOMIC_INIT(-3);
static char *state = "idle";
static u64 last;

static int last_get(void *data, u64 *value)
{
	*value = *(u64 *)data + 1;
	return 0;
}

static int last_set(void *data, u64 value)
{
	if (value > 100)
		return -ERANGE;
	*(u64 *)data = value;
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(last_fops, last_get, last_set, "%llu\n");
DEFINE_SIMPLE_ATTRIBUTE(next_fops, last_get, NULL, "next %lld\n");

static int demo_show(struct seq_file *m, void *v)
{
	seq_puts(m, "of /proc\n");
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(demo);

static int __init demo_init(void)
{
	if (!proc_create_single("demo", 0444, NULL, demo_show))
		return -ENOMEM;
	folder = debugfs_create_dir("demo", NULL);
	debugfs_create_u32("size", 0644, folder, &size);
	debugfs_create_x64("mask", 0444, folder, &mask);
	debugfs_create_bool("enabled", 0644, folder, &enabled);
	debugfs_create_atomic_t("users", 0644, folder, &users);
	debugfs_create_str("state", 0444, folder, &state);
	debugfs_create_file_unsafe("last", 0644, folder, &last, &last_fops);
	debugfs_create_file("next", 0444, folder, &last, &next_fops);
	debugfs_create_file("shown", 0444, folder, NULL, &demo_fops);
	pr_info("twice %ld\n", PTR_ERR(debugfs_create_dir("demo", NULL)));
	pr_info("below an error %ld\n", PTR_ERR(debugfs_create_dir("x", ERR_PTR(-EEXIST))));
	return debugfs_lookup("mask", folder) && !debugfs_lookup("none", folder) ? 0 : -EINVAL;
}

static void __exit demo_exit(void)
{
	remove_proc_entry("demo", NULL);
	debugfs_remove(folder);
}

module_init(demo_init);
module_exit(demo_exit);
MODULE_LICENSE("GPL");
