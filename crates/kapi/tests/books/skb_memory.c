// What packets' buffers take: the head, the data that kmalloc() rounds up, small data, pieces of pages, clones and copies.
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/skbuff.h>
#include <linux/udp.h>

static void sizes(void)
{
	static const unsigned int bytes[] = { 1500, 3000, 9000 };
	struct sk_buff *skb;
	int i;

	pr_info("skb: a head has %zu bytes, shared information %zu\n", sizeof(struct sk_buff), sizeof(struct skb_shared_info));
	for (i = 0; i < ARRAY_SIZE(bytes); i++) {
		skb = alloc_skb(bytes[i], GFP_KERNEL);
		if (!skb)
			return;
		pr_info("skb: %u bytes: room for %d, truesize %u\n", bytes[i], skb_tailroom(skb), skb->truesize);
		kfree_skb(skb);
	}
	skb = netdev_alloc_skb(NULL, 1500);
	pr_info("skb: a device's frame: a piece of a page %d, room in front %u, truesize %u\n", skb->head_frag,
		skb_headroom(skb), skb->truesize);
	dev_kfree_skb(skb);
}

static void headers(void)
{
	struct sk_buff *skb = alloc_skb(256, GFP_KERNEL);
	struct udphdr *udp;
	struct iphdr *ip;

	skb_reserve(skb, 64);
	skb_put_data(skb, "payload", 7);
	udp = skb_push(skb, sizeof(*udp));
	skb_reset_transport_header(skb);
	udp->len = htons(skb->len);
	ip = skb_push(skb, sizeof(*ip));
	skb_reset_network_header(skb);
	memset(ip, 0, sizeof(*ip));
	ip->version = 4;
	ip->ihl = 5;
	ip->saddr = in_aton("192.168.7.1");
	skb_push(skb, ETH_HLEN);
	skb_reset_mac_header(skb);
	pr_info("skb: %u bytes, headers at %d, %d and %d, UDP's length %u, from %pI4\n", skb->len,
		(int)(skb_mac_header(skb) - skb->data), skb_network_offset(skb), skb_transport_offset(skb),
		ntohs(udp_hdr(skb)->len), &ip_hdr(skb)->saddr);
	kfree_skb(skb);
}

static void pages(void)
{
	struct sk_buff *skb = alloc_skb(100, GFP_KERNEL), *clone, *copy;
	struct page *page = alloc_page(GFP_KERNEL);
	int error, pulled;
	char text[8];

	skb_put_data(skb, "front", 5);
	memcpy(page_address(page), "0123456789", 10);
	skb_add_rx_frag(skb, 0, page, 0, 10, PAGE_SIZE);
	pr_info("skb: %u bytes, %u in the head, tailroom %d\n", skb->len, skb_headlen(skb), skb_tailroom(skb));
	error = skb_copy_bits(skb, 3, text, 6);
	pr_info("skb: across %d %.6s\n", error, text);
	clone = skb_clone(skb, GFP_KERNEL);
	copy = skb_copy(skb, GFP_KERNEL);
	pr_info("skb: a clone has the page %d, a copy none %d, page's users %d\n",
		skb_frag_page(skb_shinfo(clone)->frags) == page, skb_is_nonlinear(copy), page_count(page));
	kfree_skb(skb);
	pulled = pskb_may_pull(clone, 8);
	pr_info("skb: pulled %d, %u in the head, %u in pages\n", pulled, skb_headlen(clone), clone->data_len);
	error = skb_linearize(clone);
	pr_info("skb: linear %d, %.15s, the same %d\n", error, clone->data, !memcmp(clone->data, copy->data, 15));
	kfree_skb(clone);
	kfree_skb(copy);
}

static int __init memory_init(void)
{
	sizes();
	headers();
	pages();
	return 0;
}

static void __exit memory_exit(void)
{
}

module_init(memory_init);
module_exit(memory_exit);
MODULE_LICENSE("GPL");
