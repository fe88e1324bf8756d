/* Every kind of parameter that books show at a module's start: numbers, texts, arrays with their count, one with callbacks. */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/stat.h>

static char *whom = "world";
static int howmany = 1;
static short int small = 1;
static long big = -5;
static bool loud;
static bool quiet = true;
static int grades[4] = { -1, -1, -1, -1 };
static int grades_given;
static char *friends[3];
static unsigned int friends_given;
static char place[12] = "here";
static int level = 3;
static int outside_name = 7;

module_param(whom, charp, S_IRUGO);
module_param(howmany, int, S_IRUGO | S_IWUSR);
module_param(small, short, S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP);
module_param(big, long, 0444);
module_param(loud, bool, 0);
module_param(quiet, invbool, 0);
module_param_array(grades, int, &grades_given, 0000);
module_param_array(friends, charp, &friends_given, 0);
module_param_string(place, place, sizeof(place), 0644);
module_param_named(inner_name, outside_name, int, 0660);
MODULE_PARM_DESC(whom, "whom to greet");
MODULE_PARM_DESC(grades, "up to four numbers");

static int set_level(const char *text, const struct kernel_param *kp)
{
	int wanted, result = kstrtoint(text, 10, &wanted);

	if (result)
		return result;
	if (wanted < 1 || wanted > 7)
		return -EINVAL;
	return param_set_int(text, kp);
}

static const struct kernel_param_ops level_ops = { .set = set_level, .get = param_get_int };
module_param_cb(level, &level_ops, &level, 0644);

static const char greeting[] __initconst = KERN_INFO "greets %s\n";
static int times __initdata;

static int __init hello_init(void)
{
	int i;

	for (; times < howmany; times++)
		printk(greeting, whom);
	printk(KERN_INFO "small %hd, big %ld, loud %d, quiet %d, level %d, inner %d, at %s\n", small, big, loud, quiet, level,
	       outside_name, place);
	for (i = 0; i < ARRAY_SIZE(grades); i++)
		printk("%sgrade%d=%d%s", i ? KERN_CONT " " : KERN_INFO, i, grades[i], i == 3 ? "\n" : "");
	for (i = 0; i < friends_given; i++)
		pr_info("friend %s\n", friends[i]);
	pr_info("given: %d grades, %u friends\n", grades_given, friends_given);
	return 0;
}

static void __exit hello_exit(void)
{
	printk(KERN_ALERT "leaves %s\n", whom);
}

module_init(hello_init);
module_exit(hello_exit);

MODULE_LICENSE("GPL v2");
MODULE_AUTHOR("slablab");
MODULE_DESCRIPTION("greets, and shows its parameters");
MODULE_VERSION("1.2");
MODULE_ALIAS("greeter");
MODULE_INFO(answer, "42");
