// SPDX-License-Identifier: MIT OR Apache-2.0
// Frames on their way: out of a device by its queue, in by its pollers or netif_rx(), up to who asked for them.
//
// How it works: what comes in waits in one list, and pollers in another; one tasklet serves both, and queues that were
// woken. A frame that no handler of the module takes is for the stack, which is a line of text for each: the steps of
// --do show them. A queue is locked by a bit and its holder's name, as one device may transmit through another.
#include "host.h"
#include <linux/delay.h>
#include <linux/ip.h>
#include <linux/kernel.h>
#include <linux/netdevice.h>
#include <linux/rculist.h>
#include <linux/sched.h>

/* Frames that wait to be received, as net.core.netdev_max_backlog; and lines that wait to be shown, of a device. */
#define BACKLOG_MAX 1000
#define LINES_MAX 64
#define LINE_BYTES 128

struct line {
	struct list_head list;
	int ifindex;
	char text[LINE_BYTES];
};

static struct sk_buff_head backlog = { .next = (struct sk_buff *)&backlog, .prev = (struct sk_buff *)&backlog,
				       .lock = __SPIN_LOCK_UNLOCKED(backlog.lock) };
static LIST_HEAD(pollers);
static LIST_HEAD(woken);
static LIST_HEAD(handlers);
static LIST_HEAD(lines);
static DEFINE_SPINLOCK(lock);
static volatile bool serving;

static void serve(struct tasklet_struct *t);
static DECLARE_TASKLET(server, serve);

static void go_on(void) { tasklet_schedule(&server); }

/* The stack. */
static void printable(char *to, size_t size, const struct sk_buff *skb, int from)
{
	size_t n = min_t(size_t, size - 1, skb->len - (unsigned int)from), i;

	skb_copy_bits(skb, from, to, (int)n);
	while (n && !to[n - 1])
		n--;
	for (i = 0; i < n; i++)
		if (to[i] < ' ' || to[i] > '~')
			to[i] = '.';
	to[n] = '\0';
}

/* The text of a frame; false if the stack drops it. */
static bool describe(char *text, const struct sk_buff *skb)
{
	char payload[64];
	struct iphdr ip;
	int header;

	if (ntohs(skb->protocol) != ETH_P_IP || skb_copy_bits(skb, 0, &ip, sizeof(ip))) {
		printable(payload, sizeof(payload), skb, 0);
		scnprintf(text, LINE_BYTES, "protocol 0x%04x, %u bytes: %s", ntohs(skb->protocol), skb->len, payload);
		return true;
	}
	header = ip.ihl * 4;
	if (ip.version != 4 || header < (int)sizeof(ip) || ntohs(ip.tot_len) > skb->len ||
	    csum_fold(skb_checksum(skb, 0, header, 0)))
		return false;
	header += ip.protocol == IPPROTO_UDP ? (int)sizeof(struct udphdr) : 0;
	printable(payload, sizeof(payload), skb, min(header, (int)skb->len));
	scnprintf(text, LINE_BYTES, "%pI4 > %pI4: %s", &ip.saddr, &ip.daddr, payload);
	return true;
}

static void to_the_stack(struct sk_buff *skb)
{
	struct line *line = skb->pkt_type == PACKET_OTHERHOST ? NULL : kapi_alloc(sizeof(*line)), *other;
	unsigned int waiting = 0;
	unsigned long flags;

	if (line) {
		line->ifindex = skb->dev->ifindex;
		spin_lock_irqsave(&lock, flags);
		list_for_each_entry(other, &lines, list)
			waiting += other->ifindex == line->ifindex;
		spin_unlock_irqrestore(&lock, flags);
	}
	if (line && waiting < LINES_MAX && describe(line->text, skb)) {
		spin_lock_irqsave(&lock, flags);
		list_add_tail(&line->list, &lines);
		spin_unlock_irqrestore(&lock, flags);
	} else if (line) {
		kapi_free(line, sizeof(*line));
	}
	consume_skb(skb);
}

/* Takes the next line of what a device received; false if there is none. */
bool kapi_net_line(int ifindex, char *text, size_t size)
{
	struct line *line;
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	list_for_each_entry(line, &lines, list)
		if (line->ifindex == ifindex) {
			list_del(&line->list);
			spin_unlock_irqrestore(&lock, flags);
			strscpy(text, line->text, size);
			kapi_free(line, sizeof(*line));
			return true;
		}
	spin_unlock_irqrestore(&lock, flags);
	return false;
}

/* Handlers, first those of all frames; the last gets the frame itself, and the others a reference each. */
void dev_add_pack(struct packet_type *pt)
{
	unsigned long flags;

	kapi_stands_by(pt, "the packet handler", (const void *)pt->func);
	spin_lock_irqsave(&lock, flags);
	if (ntohs(pt->type) == ETH_P_ALL)
		list_add_rcu(&pt->list, &handlers);
	else
		list_add_tail_rcu(&pt->list, &handlers);
	spin_unlock_irqrestore(&lock, flags);
}

void dev_remove_pack(struct packet_type *pt)
{
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	list_del_rcu(&pt->list);
	spin_unlock_irqrestore(&lock, flags);
	kapi_gone(pt);
	synchronize_rcu();
}

static bool wants(const struct packet_type *pt, const struct sk_buff *skb)
{
	return (ntohs(pt->type) == ETH_P_ALL || pt->type == skb->protocol) && (!pt->dev || pt->dev == skb->dev);
}

int netif_receive_skb(struct sk_buff *skb)
{
	struct packet_type *pt, *last = NULL;
	bool taken = false;

	skb_reset_network_header(skb);
	if (!skb_transport_header_was_set(skb))
		skb_reset_transport_header(skb);
	skb_reset_mac_len(skb);
	skb->skb_iif = skb->dev->ifindex;
	rcu_read_lock();
	list_for_each_entry_rcu(pt, &handlers, list) {
		if (!wants(pt, skb))
			continue;
		if (last) {
			skb_get(skb);
			last->func(skb, skb->dev, last, skb->dev);
		}
		last = pt;
		taken |= pt->type == skb->protocol;
	}
	if (last && !taken) {
		skb_get(skb);
		last->func(skb, skb->dev, last, skb->dev);
	} else if (last) {
		last->func(skb, skb->dev, last, skb->dev);
	}
	rcu_read_unlock();
	if (!taken)
		to_the_stack(skb);
	return NET_RX_SUCCESS;
}

int netif_rx(struct sk_buff *skb)
{
	struct net_device *dev = skb->dev;

	if (WARN_ON_ONCE(!dev) || !netif_running(dev) || skb_queue_len(&backlog) > BACKLOG_MAX) {
		if (dev)
			dev_core_stats_rx_dropped_inc(dev);
		kfree_skb(skb);
		return NET_RX_DROP;
	}
	__net_timestamp(skb);
	skb_queue_tail(&backlog, skb);
	go_on();
	return NET_RX_SUCCESS;
}

void netif_receive_skb_list(struct list_head *head)
{
	struct sk_buff *skb, *next;

	list_for_each_entry_safe(skb, next, head, list) {
		skb_list_del_init(skb);
		netif_receive_skb(skb);
	}
}

int napi_gro_receive(struct napi_struct *napi, struct sk_buff *skb) { return netif_receive_skb(skb); }

/* Pollers. */
void netif_napi_add_weight(struct net_device *dev, struct napi_struct *napi,
			   int (*poll)(struct napi_struct *napi, int budget), int weight)
{
	static atomic_t ids = ATOMIC_INIT(8192);

	*napi = (struct napi_struct){ .poll = poll, .weight = weight, .dev = dev, .state = BIT(NAPI_STATE_SCHED) };
	napi->napi_id = (unsigned int)atomic_inc_return(&ids);
	INIT_LIST_HEAD(&napi->poll_list);
	list_add_rcu(&napi->dev_list, &dev->napi_list);
}

static void unlist(struct napi_struct *napi)
{
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	if (__test_and_clear_bit(NAPI_STATE_LISTED, &napi->state))
		list_del(&napi->poll_list);
	spin_unlock_irqrestore(&lock, flags);
}

void netif_napi_del(struct napi_struct *napi)
{
	char text[96];

	if (!napi->dev)
		return;
	if (!test_bit(NAPI_STATE_SCHED, &napi->state))
		kapi_misuse(KAPI_LEFT, text, (size_t)scnprintf(text, sizeof(text), "the poller `%ps` of `%s` is enabled where it goes",
			    napi->poll, napi->dev->name), kapi_module_site());
	unlist(napi);
	list_del_rcu(&napi->dev_list);
	napi->dev = NULL;
	synchronize_rcu();
}

void napi_enable(struct napi_struct *napi)
{
	BUG_ON(!test_bit(NAPI_STATE_SCHED, &napi->state));
	clear_bit(NAPI_STATE_DISABLE, &napi->state);
	smp_mb__before_atomic();
	clear_bit(NAPI_STATE_SCHED, &napi->state);
}

void napi_disable(struct napi_struct *napi)
{
	might_sleep();
	if (WARN(test_and_set_bit(NAPI_STATE_DISABLE, &napi->state), "napi_disable() of what is disabled never returns\n"))
		return;
	while (test_and_set_bit(NAPI_STATE_SCHED, &napi->state))
		kapi_host_sleep(1);
}

void napi_synchronize(const struct napi_struct *napi)
{
	while (test_bit(NAPI_STATE_SCHED, &napi->state))
		kapi_host_sleep(1);
}

bool napi_schedule_prep(struct napi_struct *napi)
{
	if (test_bit(NAPI_STATE_DISABLE, &napi->state))
		return false;
	if (!test_and_set_bit(NAPI_STATE_SCHED, &napi->state))
		return true;
	set_bit(NAPI_STATE_MISSED, &napi->state);
	return false;
}

void __napi_schedule(struct napi_struct *napi)
{
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	if (!__test_and_set_bit(NAPI_STATE_LISTED, &napi->state))
		list_add_tail(&napi->poll_list, &pollers);
	spin_unlock_irqrestore(&lock, flags);
	go_on();
}

bool napi_complete_done(struct napi_struct *napi, int work_done)
{
	if (test_and_clear_bit(NAPI_STATE_MISSED, &napi->state) && !test_bit(NAPI_STATE_DISABLE, &napi->state)) {
		__napi_schedule(napi);
		return false;
	}
	clear_bit(NAPI_STATE_SCHED, &napi->state);
	return true;
}

static struct napi_struct *next_poller(void)
{
	struct napi_struct *napi = list_first_entry_or_null(&pollers, struct napi_struct, poll_list);

	if (napi) {
		list_del(&napi->poll_list);
		__clear_bit(NAPI_STATE_LISTED, &napi->state);
	}
	return napi;
}

static void poll_one(struct napi_struct *napi)
{
	int work = napi->poll(napi, napi->weight);

	WARN_ONCE(work > napi->weight, "%ps polled %d frames of %d\n", napi->poll, work, napi->weight);
	/* All that it may do: it goes on when the others had their turn. */
	if (work >= napi->weight)
		__napi_schedule(napi);
}

/* Transmission. */
static bool lock_queue(struct netdev_queue *txq)
{
	if (READ_ONCE(txq->xmit_lock_owner) == current)
		return false;
	preempt_disable();
	while (test_and_set_bit(__QUEUE_STATE_FROZEN, &txq->state))
		cpu_relax();
	WRITE_ONCE(txq->xmit_lock_owner, current);
	return true;
}

void __netif_tx_lock(struct netdev_queue *txq, int cpu) { lock_queue(txq); }

static void unlock_queue(struct netdev_queue *txq)
{
	WRITE_ONCE(txq->xmit_lock_owner, NULL);
	clear_bit_unlock(__QUEUE_STATE_FROZEN, &txq->state);
	preempt_enable();
}

void __netif_tx_unlock(struct netdev_queue *txq) { unlock_queue(txq); }

bool __netif_tx_trylock(struct netdev_queue *txq)
{
	preempt_disable();
	if (!test_and_set_bit(__QUEUE_STATE_FROZEN, &txq->state)) {
		WRITE_ONCE(txq->xmit_lock_owner, current);
		return true;
	}
	preempt_enable();
	return false;
}

void netif_tx_lock(struct net_device *dev)
{
	unsigned int i;

	for (i = 0; i < dev->num_tx_queues; i++)
		lock_queue(&dev->_tx[i]);
}

void netif_tx_unlock(struct net_device *dev)
{
	unsigned int i;

	for (i = dev->num_tx_queues; i; i--)
		unlock_queue(&dev->_tx[i - 1]);
}

/* Whether the driver took the frame. */
static bool transmit(struct netdev_queue *txq, struct sk_buff *skb)
{
	struct net_device *dev = txq->dev;
	bool locks = !dev->lltx && !(dev->features & NETIF_F_LLTX), took;

	if (locks && !lock_queue(txq)) {
		pr_crit("Dead loop on virtual device %s, fix it urgently!\n", dev->name);
		kfree_skb(skb);
		return true;
	}
	took = dev->netdev_ops->ndo_start_xmit(skb, dev) != NETDEV_TX_BUSY;
	if (took)
		WRITE_ONCE(txq->trans_start, jiffies);
	if (locks)
		unlock_queue(txq);
	return took;
}

static void send_waiting(struct netdev_queue *txq)
{
	struct sk_buff *skb;

	local_bh_disable();
	while (!netif_tx_queue_stopped(txq) && (skb = skb_dequeue(&txq->kapi_waits)))
		if (!transmit(txq, skb)) {
			skb_queue_head(&txq->kapi_waits, skb);
			break;
		}
	local_bh_enable();
}

int dev_queue_xmit(struct sk_buff *skb)
{
	struct net_device *dev = skb->dev;
	struct netdev_queue *txq;
	u16 index = 0;

	if (!(dev->flags & IFF_UP) || !netif_running(dev)) {
		kfree_skb(skb);
		return -ENETDOWN;
	}
	skb_reset_mac_header(skb);
	if (dev->netdev_ops->ndo_select_queue && dev->real_num_tx_queues > 1)
		index = dev->netdev_ops->ndo_select_queue(dev, skb, NULL);
	index = index < dev->real_num_tx_queues ? index : 0;
	skb_set_queue_mapping(skb, index);
	txq = &dev->_tx[index];
	if (skb_queue_len(&txq->kapi_waits) >= max(dev->tx_queue_len, 1U)) {
		dev_core_stats_tx_dropped_inc(dev);
		kfree_skb(skb);
		return NET_XMIT_DROP;
	}
	if (READ_ONCE(txq->xmit_lock_owner) == current && !dev->lltx) {
		transmit(txq, skb);
		return NET_XMIT_DROP;
	}
	skb_queue_tail(&txq->kapi_waits, skb);
	send_waiting(txq);
	return NET_XMIT_SUCCESS;
}

static void wake(struct netdev_queue *txq)
{
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	if (list_empty(&txq->kapi_woken))
		list_add_tail(&txq->kapi_woken, &woken);
	spin_unlock_irqrestore(&lock, flags);
	go_on();
}

void netif_tx_wake_queue(struct netdev_queue *txq)
{
	if (test_and_clear_bit(__QUEUE_STATE_DRV_XOFF, &txq->state))
		wake(txq);
}

#define ALL_QUEUES(dev, call) do { \
	unsigned int i; \
	for (i = 0; i < (dev)->num_tx_queues; i++) \
		call(&(dev)->_tx[i]); \
} while (0)
void netif_tx_start_all_queues(struct net_device *dev) { ALL_QUEUES(dev, netif_tx_start_queue); }
void netif_tx_stop_all_queues(struct net_device *dev) { ALL_QUEUES(dev, netif_tx_stop_queue); }
void netif_tx_wake_all_queues(struct net_device *dev) { ALL_QUEUES(dev, netif_tx_wake_queue); }

void netif_trans_update(struct net_device *dev)
{
	WRITE_ONCE(dev->_tx->trans_start, jiffies);
	dev->trans_start = jiffies;
}

static struct netdev_queue *next_woken(void)
{
	struct netdev_queue *txq = list_first_entry_or_null(&woken, struct netdev_queue, kapi_woken);

	if (txq)
		list_del_init(&txq->kapi_woken);
	return txq;
}

static void serve(struct tasklet_struct *t)
{
	struct netdev_queue *txq;
	struct napi_struct *napi;
	struct sk_buff *skb;
	bool any;

	serving = true;
	do {
		any = false;
		txq = UNDER_LOCK(&lock, next_woken());
		if (txq)
			send_waiting(txq);
		napi = UNDER_LOCK(&lock, next_poller());
		if (napi)
			poll_one(napi);
		skb = skb_dequeue(&backlog);
		if (skb)
			netif_receive_skb(skb);
		any = txq || napi || skb;
	} while (any);
	serving = false;
}

/* How long steps wait for frames to arrive. */
#define SETTLE_MS 1000

static bool is_settled(void)
{
	return !READ_ONCE(server.state) && !serving && skb_queue_empty_lockless(&backlog) && list_empty(&pollers) &&
	       list_empty(&woken);
}

void kapi_net_settle(void)
{
	int ms;

	for (ms = 0; ms < SETTLE_MS && !is_settled(); ms++)
		kapi_host_sleep(1);
}

/* Driver's calls about queues that wait for too long. */
static void watch(struct timer_list *timer)
{
	struct net_device *dev = container_of(timer, struct net_device, watchdog_timer);
	unsigned int i;

	for (i = 0; i < dev->num_tx_queues; i++) {
		struct netdev_queue *txq = &dev->_tx[i];

		if (!netif_tx_queue_stopped(txq) || !netif_carrier_ok(dev) ||
		    !time_after(jiffies, READ_ONCE(txq->trans_start) + (unsigned long)dev->watchdog_timeo))
			continue;
		pr_crit("NETDEV WATCHDOG: %s: transmit queue %u timed out\n", dev->name, i);
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 6, 0)
		dev->netdev_ops->ndo_tx_timeout(dev);
#else
		dev->netdev_ops->ndo_tx_timeout(dev, i);
#endif
	}
	if (netif_running(dev))
		mod_timer(timer, jiffies + (unsigned long)dev->watchdog_timeo);
}

void kapi_net_begin(struct net_device *dev)
{
	if (!dev->netdev_ops->ndo_tx_timeout)
		return;
	dev->watchdog_timeo = dev->watchdog_timeo > 0 ? dev->watchdog_timeo : 5 * HZ;
	timer_setup(&dev->watchdog_timer, watch, 0);
	/* It is the device's, which is told where it is left. */
	dev->watchdog_timer.flags |= KAPI_TIMER_OWN;
	mod_timer(&dev->watchdog_timer, jiffies + (unsigned long)dev->watchdog_timeo);
}

static struct sk_buff *next_of(const struct net_device *dev)
{
	struct sk_buff *skb;

	skb_queue_walk(&backlog, skb)
		if (skb->dev == dev) {
			__skb_unlink(skb, &backlog);
			return skb;
		}
	return NULL;
}

/* The device is down: nothing of it is on its way any more. */
void kapi_net_end(struct net_device *dev)
{
	struct sk_buff *skb;
	unsigned long flags;
	unsigned int i;

	if (dev->watchdog_timer.function)
		del_timer_sync(&dev->watchdog_timer);
	for (i = 0; i < dev->num_tx_queues; i++) {
		spin_lock_irqsave(&lock, flags);
		list_del_init(&dev->_tx[i].kapi_woken);
		spin_unlock_irqrestore(&lock, flags);
		skb_queue_purge(&dev->_tx[i].kapi_waits);
	}
	while ((skb = UNDER_LOCK(&backlog.lock, next_of(dev))))
		kfree_skb(skb);
	while (serving)
		kapi_host_sleep(1);
}
