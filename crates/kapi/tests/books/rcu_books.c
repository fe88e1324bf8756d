/* Books in a list: readers in RCU sections, borrowing replaces the object, and a list under a rwlock beside. */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

struct book {
	int id;
	char name[32];
	int borrow;
	struct list_head node;
	struct rcu_head rcu;
};

static LIST_HEAD(books);
static DEFINE_SPINLOCK(books_lock);
static struct book __rcu *best;
static int freed;

static void book_reclaim(struct rcu_head *rh)
{
	struct book *b = container_of(rh, struct book, rcu);

	freed++;
	kfree(b);
}

static int add_book(int id, const char *name)
{
	struct book *b = kzalloc(sizeof(*b), GFP_KERNEL);

	if (!b)
		return -ENOMEM;
	b->id = id;
	strscpy(b->name, name, sizeof(b->name));
	spin_lock(&books_lock);
	list_add_rcu(&b->node, &books);
	spin_unlock(&books_lock);
	return 0;
}

static int borrow_book(int id, bool async)
{
	struct book *b, *old = NULL, *new;

	rcu_read_lock();
	list_for_each_entry_rcu(b, &books, node)
		if (b->id == id) {
			old = b;
			break;
		}
	rcu_read_unlock();
	if (!old || old->borrow)
		return -1;
	new = kmemdup(old, sizeof(*old), GFP_ATOMIC);
	if (!new)
		return -ENOMEM;
	new->borrow = 1;
	spin_lock(&books_lock);
	list_replace_rcu(&old->node, &new->node);
	spin_unlock(&books_lock);
	if (async) {
		call_rcu(&old->rcu, book_reclaim);
	} else {
		synchronize_rcu();
		kfree(old);
	}
	return 0;
}

static int delete_book(int id)
{
	struct book *b;

	spin_lock(&books_lock);
	list_for_each_entry(b, &books, node)
		if (b->id == id) {
			list_del_rcu(&b->node);
			spin_unlock(&books_lock);
			kfree_rcu(b, rcu);
			return 0;
		}
	spin_unlock(&books_lock);
	return -ENOENT;
}

static void print_books(void)
{
	struct book *b;

	rcu_read_lock();
	list_for_each_entry_rcu(b, &books, node)
		pr_info("id %d, name %s, borrowed %d\n", b->id, b->name, b->borrow);
	b = rcu_dereference(best);
	pr_info("best: %s, held %d\n", b ? b->name : "none", rcu_read_lock_held());
	rcu_read_unlock();
}

static int __init books_init(void)
{
	struct book *b = kzalloc(sizeof(*b), GFP_KERNEL);

	if (!b || add_book(1, "C") || add_book(2, "Rust") || add_book(3, "Kernel"))
		return -ENOMEM;
	strscpy(b->name, "Drivers", sizeof(b->name));
	print_books();
	rcu_assign_pointer(best, b);
	pr_info("borrow 2: %d\n", borrow_book(2, true));
	pr_info("borrow 3: %d\n", borrow_book(3, false));
	pr_info("borrow 3 again: %d\n", borrow_book(3, true));
	pr_info("delete 1: %d\n", delete_book(1));
	pr_info("delete 9: %d\n", delete_book(9));
	print_books();
	return 0;
}

static void __exit books_exit(void)
{
	struct book *b, *next, *last = rcu_replace_pointer(best, NULL, true);

	list_for_each_entry_safe(b, next, &books, node) {
		list_del_rcu(&b->node);
		call_rcu(&b->rcu, book_reclaim);
	}
	synchronize_rcu();
	kfree(last);
	rcu_barrier();
	pr_info("freed by callbacks: %d\n", freed);
}

module_init(books_init);
module_exit(books_exit);
MODULE_LICENSE("GPL");
