// Nothing is wrong here: locks of two objects by address.
#include <linux/module.h>
#include <linux/mutex.h>

struct account {
	struct mutex lock;
	long balance;
};

static struct account accounts[3];

static void transfer(struct account *from, struct account *to)
{
	struct account *first = from < to ? from : to, *second = from < to ? to : from;

	mutex_lock(&first->lock);
	mutex_lock_nested(&second->lock, 1);
	from->balance--;
	to->balance++;
	mutex_unlock(&second->lock);
	mutex_unlock(&first->lock);
}

static int __init begin(void)
{
	int i;

	for (i = 0; i < 3; i++)
		mutex_init(&accounts[i].lock);
	transfer(&accounts[0], &accounts[1]);
	transfer(&accounts[2], &accounts[1]);
	transfer(&accounts[1], &accounts[0]);
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
