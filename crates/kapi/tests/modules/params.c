/* Parameters of each kind, shown by init. */
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/stat.h>

static int number = 1;
static unsigned int positive = 2;
static long wide = 3;
static unsigned long wide_positive = 4;
static short small = 5;
static bool flag;
static char *text = "none";
static int list[4] = { -1, -1, -1, -1 };
static int list_count;
static char buffer[8] = "abc";

module_param(number, int, S_IRUSR | S_IWUSR);
module_param(positive, uint, 0);
module_param(wide, long, 0);
module_param(wide_positive, ulong, 0);
module_param(small, short, 0);
module_param(flag, bool, 0);
module_param(text, charp, 0000);
module_param_array(list, int, &list_count, 0);
module_param_string(name, buffer, sizeof(buffer), 0);
MODULE_PARM_DESC(number, "An integer");
MODULE_PARM_DESC(list, "Up to four integers");

static int __init params_init(void)
{
	int i;

	printk(KERN_INFO "%d %u %ld %lu %hd %d %s %s\n", number, positive, wide, wide_positive,
	       small, flag, text, buffer);
	for (i = 0; i < list_count; i++)
		printk(KERN_INFO "list[%d] = %d\n", i, list[i]);
	return 0;
}

static void __exit params_exit(void)
{
}
module_init(params_init);
module_exit(params_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Parameters of each kind");
MODULE_VERSION("1.2");
