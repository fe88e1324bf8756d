// left behind: the RCU callback `gone` is still there
#include <linux/module.h>
#include <linux/rcupdate.h>

static struct rcu_head head;

static void gone(struct rcu_head *head)
{
}

static int __init begin(void)
{
	return 0;
}

static void __exit end(void)
{
	call_rcu(&head, gone); // in
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
