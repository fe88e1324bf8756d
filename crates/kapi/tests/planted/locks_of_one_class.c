// locks in both orders: lock `&accounts[i].lock` is taken with another of its class held
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>

struct account {
	struct mutex lock;
	long balance;
};

static struct account accounts[2];

static void transfer(struct account *from, struct account *to)
{
	mutex_lock(&from->lock);
	mutex_lock(&to->lock); // in
	from->balance--;
	to->balance++;
	mutex_unlock(&to->lock);
	mutex_unlock(&from->lock);
}

static int __init begin(void)
{
	int i;

	for (i = 0; i < 2; i++)
		mutex_init(&accounts[i].lock);
	transfer(&accounts[0], &accounts[1]);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
