/* Memory that helpers allocate, one kind for each value of `what`, is lost: the line is the module's. */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/mempool.h>
#include <linux/bitmap.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/irqflags.h>
#include <linux/spinlock.h>
#include <linux/percpu.h>

static char *what = "";
module_param(what, charp, 0);
static void *volatile kept;
static DEFINE_MUTEX(lock);
static DEFINE_SPINLOCK(spin);

static int __init helpers_init(void)
{
	unsigned long flags;

	if (!strcmp(what, "kcalloc"))
		kept = kcalloc(4, 10, GFP_KERNEL); /* line 24 */
	else if (!strcmp(what, "kstrdup"))
		kept = kstrdup("text", GFP_KERNEL); /* line 26 */
	else if (!strcmp(what, "kasprintf"))
		kept = kasprintf(GFP_KERNEL, "%d", 5); /* line 28 */
	else if (!strcmp(what, "kmemdup"))
		kept = kmemdup("text", 5, GFP_KERNEL); /* line 30 */
	else if (!strcmp(what, "mempool"))
		kept = mempool_create_kmalloc_pool(2, 100); /* line 32 */
	else if (!strcmp(what, "bitmap"))
		kept = bitmap_zalloc(100, GFP_KERNEL); /* line 34 */
	else if (!strcmp(what, "mutex"))
		mutex_lock(&lock); /* line 36 */
	else if (!strcmp(what, "irq"))
		local_irq_save(flags); /* line 38 */
	else if (!strcmp(what, "rcu"))
		rcu_read_lock(); /* line 40 */
	else if (!strcmp(what, "unlock"))
		mutex_unlock(&lock); /* line 42 */
	else if (!strcmp(what, "spin_unlock"))
		spin_unlock(&spin); /* line 44 */
	else if (!strcmp(what, "rcu_unlock"))
		rcu_read_unlock(); /* line 46 */
	else if (!strcmp(what, "huge"))
		pr_info("helpers: %d %d %d\n", !kmalloc(SIZE_MAX - 15, GFP_KERNEL), !kzalloc(SIZE_MAX, GFP_KERNEL),
			!__alloc_percpu(SIZE_MAX, 8));
	return 0;
}

static void __exit helpers_exit(void)
{
}

module_init(helpers_init);
module_exit(helpers_exit);
MODULE_LICENSE("GPL");
