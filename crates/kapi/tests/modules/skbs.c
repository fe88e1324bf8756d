// Packets' buffers: room, clones, copies, and queues that threads share.
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/skbuff.h>

#define PACKETS 3000
static struct sk_buff_head queue;
static atomic_t gone;
static long sum;
static atomic_t started;

static void destructor(struct sk_buff *skb)
{
	atomic_inc(&gone);
}

static void one_buffer(void)
{
	struct sk_buff *skb = alloc_skb(200, GFP_KERNEL), *clone, *copy, *own;
	char text[8];

	skb_reserve(skb, 32);
	skb_put_data(skb, "payload", 8);
	memcpy(skb_push(skb, 4), "head", 4);
	pr_info("skb: len %u, headroom %u, tailroom %d, %.4s %s\n", skb->len, skb_headroom(skb),
		skb_tailroom(skb) >= 200 - 40, skb->data, skb->data + 4);
	skb_pull(skb, 4);
	pr_info("skb: beyond %d, bits %d %s\n", skb_pull(skb, 1000) == NULL, skb_copy_bits(skb, 3, text, 5), text);
	skb->destructor = destructor;
	clone = skb_clone(skb, GFP_KERNEL);
	copy = skb_copy(skb, GFP_KERNEL);
	pr_info("skb: cloned %d %d, same data %d, copied %d %s\n", skb_cloned(skb), skb_cloned(clone),
		clone->data == skb->data, copy->data != skb->data, copy->data);
	own = skb_unshare(clone, GFP_KERNEL);
	pr_info("skb: own data %d, cloned %d\n", own->data != skb->data, skb_cloned(skb));
	pr_info("skb: expanded %d\n", pskb_expand_head(own, 128, 500, GFP_KERNEL));
	pr_info("skb: room %u before, %d behind, %s\n", skb_headroom(own), skb_tailroom(own) >= 500, own->data);
	skb_trim(own, 3);
	skb_get(skb);
	kfree_skb(skb);
	pr_info("skb: shared %d, gone %d, trimmed to %u\n", skb_shared(skb), atomic_read(&gone), own->len);
	kfree_skb(skb);
	consume_skb(copy);
	kfree_skb(own);
	skb = alloc_skb_fclone(2000, GFP_KERNEL);
	clone = skb_clone(skb, GFP_ATOMIC);
	copy = skb_clone(skb, GFP_ATOMIC);
	pr_info("skb: pair %d, another %d\n", clone == skb + 1, copy->fclone == SKB_FCLONE_UNAVAILABLE);
	kfree_skb(skb);
	skb_put_zero(clone, 1500);
	kfree_skb(clone);
	kfree_skb(copy);
	kfree_skb(NULL);
	skb = build_skb(kmalloc(2048, GFP_KERNEL), 0);
	skb_reserve(skb, NET_SKB_PAD);
	kfree_skb(skb);
}

static int producer(void *data)
{
	long i;

	atomic_inc(&started);
	for (i = 0; i < PACKETS; i++) {
		struct sk_buff *skb = alloc_skb(i % 7 ? 64 : 3000, GFP_KERNEL), *clone;

		*(long *)skb_put(skb, sizeof(i)) = i;
		clone = skb_clone(skb, GFP_KERNEL);
		skb_queue_tail(&queue, skb);
		skb_queue_head(&queue, clone);
		if (i % 32 == 0)
			cond_resched();
	}
	return 0;
}

static int consumer(void *data)
{
	struct sk_buff *skb;

	atomic_inc(&started);
	while ((skb = skb_dequeue(&queue)) || !kthread_should_stop()) {
		if (!skb) {
			cond_resched();
			continue;
		}
		sum += *(long *)skb->data;
		consume_skb(skb);
	}
	return 0;
}

static int __init skbs_init(void)
{
	struct task_struct *from[2], *to;
	struct sk_buff *skb, *next;
	int n = 0;

	one_buffer();
	skb_queue_head_init(&queue);
	from[0] = kthread_run(producer, NULL, "producer/0");
	from[1] = kthread_run(producer, NULL, "producer/1");
	to = kthread_run(consumer, NULL, "consumer");
	/* A thread that is stopped before its first step takes none. */
	while (atomic_read(&started) < 3)
		msleep(1);
	kthread_stop(from[0]);
	kthread_stop(from[1]);
	kthread_stop(to);
	pr_info("skbs: sum %ld, left %u\n", sum, skb_queue_len(&queue));
	for (n = 0; n < 5; n++)
		__skb_queue_tail(&queue, alloc_skb(10, GFP_KERNEL));
	skb = skb_peek_tail(&queue);
	skb_unlink(skb, &queue);
	kfree_skb(skb);
	n = 0;
	skb_queue_walk_safe(&queue, skb, next)
		n++;
	pr_info("skbs: queued %d\n", n);
	skb_queue_purge(&queue);
	pr_info("skbs: empty %d\n", skb_queue_empty(&queue));
	return 0;
}

static void __exit skbs_exit(void)
{
}
module_init(skbs_init);
module_exit(skbs_exit);
MODULE_LICENSE("GPL");
