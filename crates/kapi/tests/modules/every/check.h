/* How a module of this folder checks: IS() for each value, and result() at the end of its init. */
#include <linux/errno.h>
#include <linux/printk.h>

static int wrong, right;
#define IS(expression, value) \
	do { \
		if ((expression) == (value)) \
			right++; \
		else if (++wrong) \
			printk(KERN_ERR "every: %s is not %s\n", #expression, #value); \
	} while (0)

static int result(void)
{
	printk(KERN_INFO "every: %d right, %d wrong\n", right, wrong);
	return wrong ? -EINVAL : 0;
}
