/* struct list_head, as every introduction shows it. */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/string.h>

struct birthday {
	int day, month, year;
	char name[16];
	struct list_head list;
};

static LIST_HEAD(birthday_list);

static int simple_init(void)
{
	struct birthday *person, *next;
	const char *names[] = { "ada", "brian", "grace" };
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		person = kmalloc(sizeof *person, GFP_KERNEL);
		person->day = i + 1;
		person->month = 8;
		person->year = 1970 + i;
		strcpy(person->name, names[i]);
		INIT_LIST_HEAD(&person->list);
		list_add_tail(&person->list, &birthday_list);
	}
	list_for_each_entry(person, &birthday_list, list)
		printk(KERN_INFO "%s: %02d.%02d.%d\n", person->name, person->day, person->month,
		       person->year);
	list_for_each_entry_safe(person, next, &birthday_list, list)
		if (person->day == 2) {
			list_del(&person->list);
			kfree(person);
		}
	return 0;
}

static void simple_exit(void)
{
	struct list_head *pos, *n;

	list_for_each_safe(pos, n, &birthday_list) {
		struct birthday *person = list_entry(pos, struct birthday, list);
		printk(KERN_INFO "removing %s\n", person->name);
		list_del(pos);
		kfree(person);
	}
}

module_init(simple_init);
module_exit(simple_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("list demo");
MODULE_AUTHOR("a student");
