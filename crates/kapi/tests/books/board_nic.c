// SPDX-License-Identifier: MIT OR Apache-2.0
// A network driver as of an embedded board: platform device, ring of descriptors over a page pool, interrupt and NAPI.
#include <linux/bitops.h>
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/platform_device.h>
#include <linux/version.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#include <net/page_pool/helpers.h>
#else
#include <net/page_pool.h>
#endif

#define RING 32
#define RX_HEADROOM (NET_SKB_PAD + NET_IP_ALIGN)
#define RX_BUF_SIZE (PAGE_SIZE - RX_HEADROOM - SKB_DATA_ALIGN(sizeof(struct skb_shared_info)))

struct board_desc {
	dma_addr_t addr;
	u32 len;
	bool own;
};
struct board_buf {
	struct page *page;
	struct sk_buff *skb;
};
struct board {
	struct net_device *ndev;
	struct device *dev;
	struct page_pool *pool;
	struct napi_struct napi;
	struct board_desc *rx, *tx;
	dma_addr_t rx_dma, tx_dma;
	struct board_buf rx_buf[RING], tx_buf[RING];
	unsigned int rx_head, tx_head, tx_tail;
	unsigned long irqs;
	spinlock_t lock;
};

static int board_refill(struct board *p, unsigned int i)
{
	struct page *page = page_pool_dev_alloc_pages(p->pool);

	if (!page)
		return -ENOMEM;
	p->rx_buf[i].page = page;
	p->rx[i].addr = page_pool_get_dma_addr(page) + RX_HEADROOM;
	p->rx[i].len = RX_BUF_SIZE;
	dma_wmb();
	p->rx[i].own = true;
	return 0;
}

static void board_tx_clean(struct board *p, int budget)
{
	unsigned int bytes = 0, packets = 0;

	spin_lock(&p->lock);
	while (p->tx_tail != p->tx_head) {
		struct board_buf *b = &p->tx_buf[p->tx_tail % RING];

		if (p->tx[p->tx_tail % RING].own)
			break;
		dma_unmap_single(p->dev, p->tx[p->tx_tail % RING].addr, b->skb->len, DMA_TO_DEVICE);
		bytes += b->skb->len;
		packets++;
		napi_consume_skb(b->skb, budget);
		b->skb = NULL;
		p->tx_tail++;
	}
	netdev_completed_queue(p->ndev, packets, bytes);
	if (netif_queue_stopped(p->ndev) && p->tx_head - p->tx_tail < RING / 2)
		netif_wake_queue(p->ndev);
	spin_unlock(&p->lock);
}

static int board_rx(struct board *p, int budget)
{
	int done = 0;

	while (done < budget) {
		unsigned int i = p->rx_head % RING;
		struct page *page = p->rx_buf[i].page;
		struct sk_buff *skb;
		u32 len;

		if (!page || p->rx[i].own)
			break;
		dma_rmb();
		len = p->rx[i].len;
		dma_sync_single_for_cpu(p->dev, p->rx[i].addr, len, page_pool_get_dma_dir(p->pool));
		skb = napi_build_skb(page_address(page), PAGE_SIZE);
		if (!skb) {
			page_pool_recycle_direct(p->pool, page);
			p->ndev->stats.rx_dropped++;
		} else {
			skb_mark_for_recycle(skb);
			skb_reserve(skb, RX_HEADROOM);
			skb_put(skb, len);
			skb->protocol = eth_type_trans(skb, p->ndev);
			skb_record_rx_queue(skb, 0);
			p->ndev->stats.rx_packets++;
			p->ndev->stats.rx_bytes += len;
			napi_gro_receive(&p->napi, skb);
		}
		p->rx_buf[i].page = NULL;
		if (board_refill(p, i))
			break;
		p->rx_head++;
		done++;
	}
	return done;
}

static int board_poll(struct napi_struct *napi, int budget)
{
	struct board *p = container_of(napi, struct board, napi);
	int done;

	board_tx_clean(p, budget);
	done = board_rx(p, budget);
	if (done < budget)
		napi_complete_done(napi, done);
	return done;
}

/* The hardware: what is sent comes back. */
static void board_hw(struct board *p)
{
	unsigned int i, r = p->rx_head;

	spin_lock_bh(&p->lock);
	for (i = p->tx_tail; i != p->tx_head; i++) {
		struct board_desc *d = &p->tx[i % RING], *rx = &p->rx[r % RING];

		if (!d->own)
			continue;
		if (rx->own) {
			memcpy(page_address(p->rx_buf[r % RING].page) + RX_HEADROOM, p->tx_buf[i % RING].skb->data, d->len);
			rx->len = d->len;
			rx->own = false;
			r++;
		}
		d->own = false;
	}
	spin_unlock_bh(&p->lock);
	p->irqs++;
	napi_schedule(&p->napi);
}

static netdev_tx_t board_xmit(struct sk_buff *skb, struct net_device *ndev)
{
	struct board *p = netdev_priv(ndev);
	unsigned int i;
	dma_addr_t addr;

	if (skb_put_padto(skb, ETH_ZLEN))
		return NETDEV_TX_OK;
	if (skb_linearize(skb)) {
		dev_kfree_skb_any(skb);
		return NETDEV_TX_OK;
	}
	addr = dma_map_single(p->dev, skb->data, skb->len, DMA_TO_DEVICE);
	if (dma_mapping_error(p->dev, addr)) {
		dev_kfree_skb_any(skb);
		ndev->stats.tx_dropped++;
		return NETDEV_TX_OK;
	}
	spin_lock_bh(&p->lock);
	i = p->tx_head % RING;
	p->tx_buf[i].skb = skb;
	p->tx[i].addr = addr;
	p->tx[i].len = skb->len;
	dma_wmb();
	p->tx[i].own = true;
	p->tx_head++;
	netdev_sent_queue(ndev, skb->len);
	if (p->tx_head - p->tx_tail >= RING - 1)
		netif_stop_queue(ndev);
	ndev->stats.tx_packets++;
	ndev->stats.tx_bytes += skb->len;
	spin_unlock_bh(&p->lock);
	board_hw(p);
	return NETDEV_TX_OK;
}

static int board_open(struct net_device *ndev)
{
	struct board *p = netdev_priv(ndev);
	struct page_pool_params pp = {
		.flags = PP_FLAG_DMA_MAP | PP_FLAG_DMA_SYNC_DEV,
		.order = 0,
		.pool_size = RING,
		.nid = dev_to_node(p->dev),
		.dev = p->dev,
		.dma_dir = DMA_FROM_DEVICE,
		.offset = RX_HEADROOM,
		.max_len = RX_BUF_SIZE,
	};
	int i, err;

	p->pool = page_pool_create(&pp);
	if (IS_ERR(p->pool))
		return PTR_ERR(p->pool);
	err = -ENOMEM;
	p->rx = dma_alloc_coherent(p->dev, RING * sizeof(*p->rx), &p->rx_dma, GFP_KERNEL);
	if (!p->rx)
		goto pool;
	p->tx = dma_alloc_coherent(p->dev, RING * sizeof(*p->tx), &p->tx_dma, GFP_KERNEL);
	if (!p->tx)
		goto rx;
	p->rx_head = p->tx_head = p->tx_tail = 0;
	for (i = 0; i < RING; i++) {
		err = board_refill(p, i);
		if (err)
			goto bufs;
	}
	napi_enable(&p->napi);
	netif_start_queue(ndev);
	return 0;
bufs:
	while (i--)
		page_pool_put_full_page(p->pool, p->rx_buf[i].page, false);
	dma_free_coherent(p->dev, RING * sizeof(*p->tx), p->tx, p->tx_dma);
rx:
	dma_free_coherent(p->dev, RING * sizeof(*p->rx), p->rx, p->rx_dma);
pool:
	page_pool_destroy(p->pool);
	return err;
}

static int board_stop(struct net_device *ndev)
{
	struct board *p = netdev_priv(ndev);
	int i;

	netif_tx_disable(ndev);
	napi_disable(&p->napi);
	for (i = 0; i < RING; i++) {
		if (p->rx_buf[i].page)
			page_pool_put_full_page(p->pool, p->rx_buf[i].page, false);
		p->rx_buf[i].page = NULL;
		if (p->tx_buf[i].skb)
			dev_kfree_skb(p->tx_buf[i].skb);
		p->tx_buf[i].skb = NULL;
	}
	dma_free_coherent(p->dev, RING * sizeof(*p->tx), p->tx, p->tx_dma);
	dma_free_coherent(p->dev, RING * sizeof(*p->rx), p->rx, p->rx_dma);
	page_pool_destroy(p->pool);
	return 0;
}

static const struct net_device_ops board_ops = {
	.ndo_open = board_open,
	.ndo_stop = board_stop,
	.ndo_start_xmit = board_xmit,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
};

static int board_probe(struct platform_device *pdev)
{
	struct net_device *ndev;
	struct board *p;
	int err;

	ndev = devm_alloc_etherdev(&pdev->dev, sizeof(*p));
	if (!ndev)
		return -ENOMEM;
	SET_NETDEV_DEV(ndev, &pdev->dev);
	platform_set_drvdata(pdev, ndev);
	p = netdev_priv(ndev);
	p->ndev = ndev;
	p->dev = &pdev->dev;
	spin_lock_init(&p->lock);
	err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(32));
	if (err)
		return err;
	eth_hw_addr_random(ndev);
	ndev->netdev_ops = &board_ops;
	netif_napi_add(ndev, &p->napi, board_poll);
	err = register_netdev(ndev);
	if (err)
		return dev_err_probe(&pdev->dev, err, "register_netdev failed\n");
	netdev_info(ndev, "ready\n");
	return 0;
}

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
static void board_remove(struct platform_device *pdev)
#else
static int board_remove(struct platform_device *pdev)
#endif
{
	struct net_device *ndev = platform_get_drvdata(pdev);
	struct board *p = netdev_priv(ndev);

	unregister_netdev(ndev);
	netdev_info(ndev, "rx %lu tx %lu\n", ndev->stats.rx_packets, ndev->stats.tx_packets);
	netif_napi_del(&p->napi);
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 11, 0)
	return 0;
#endif
}

static struct platform_driver board_driver = {
	.probe = board_probe,
	.remove = board_remove,
	.driver = { .name = "board" },
};
static struct platform_device *board_dev;

static int __init board_init(void)
{
	int err = platform_driver_register(&board_driver);

	if (err)
		return err;
	board_dev = platform_device_register_simple("board", -1, NULL, 0);
	if (IS_ERR(board_dev)) {
		platform_driver_unregister(&board_driver);
		return PTR_ERR(board_dev);
	}
	return 0;
}
static void __exit board_exit(void)
{
	platform_device_unregister(board_dev);
	platform_driver_unregister(&board_driver);
}
module_init(board_init);
module_exit(board_exit);
MODULE_LICENSE("GPL");
