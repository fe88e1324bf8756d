// Nothing is wrong here: skb queue.
#include <linux/module.h>
#include <linux/skbuff.h>

static struct sk_buff_head queue;

static int __init begin(void)
{
	int i;

	skb_queue_head_init(&queue);
	for (i = 0; i < 5; i++) {
		struct sk_buff *skb = alloc_skb(100, GFP_KERNEL);

		if (!skb)
			return -ENOMEM;
		skb_put(skb, 10);
		skb_queue_tail(&queue, skb);
	}
	kfree_skb(skb_dequeue(&queue));
	return 0;
}

static void __exit end(void)
{
	skb_queue_purge(&queue);
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
