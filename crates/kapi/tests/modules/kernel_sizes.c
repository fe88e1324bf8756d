/* Prints how large structures are, then asks for one of each thing of the network, and gives all back. */
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/idr.h>
#include <linux/interrupt.h>
#include <linux/kref.h>
#include <linux/list_lru.h>
#include <linux/maple_tree.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/percpu_counter.h>
#include <linux/platform_device.h>
#include <linux/rhashtable.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>
#include <linux/shrinker.h>
#include <linux/skbuff.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/genetlink.h>
#include <net/netlink.h>
#include <net/page_pool/helpers.h>
#include <net/sock.h>

#define SIZE(name) pr_info("%s is %zu\n", #name, sizeof(struct name))

static void setup(struct net_device *dev)
{
}

static int ask(void)
{
	struct net_device *dev = alloc_netdev(100, "size%d", NET_NAME_ENUM, setup);
	struct sock *sk = netlink_kernel_create(&init_net, 31, NULL);
	struct page_pool_params params = { };
	struct page_pool *pool = page_pool_create(&params);
	struct sk_buff *skb = alloc_skb(100, GFP_KERNEL);

	if (!dev || !sk || IS_ERR(pool) || !skb)
		return -ENOMEM;
	free_netdev(dev);
	netlink_kernel_release(sk);
	page_pool_destroy(pool);
	kfree_skb(skb);
	return 0;
}

static int __init begin(void)
{
	SIZE(net_device);
	SIZE(netdev_queue);
	SIZE(netdev_rx_queue);
	SIZE(netdev_hw_addr);
	SIZE(napi_struct);
	SIZE(packet_type);
	SIZE(net_device_stats);
	SIZE(rtnl_link_stats64);
	SIZE(pcpu_sw_netstats);
	SIZE(pcpu_lstats);
	SIZE(sock);
	SIZE(sk_buff);
	SIZE(sk_buff_fclones);
	SIZE(sk_buff_head);
	SIZE(skb_shared_info);
	SIZE(page_pool);
	SIZE(genl_info);
	SIZE(genl_dumpit_info);
	SIZE(genl_ops);
	SIZE(nla_policy);
	SIZE(netlink_callback);
	SIZE(device);
	SIZE(platform_device);
	SIZE(miscdevice);
	SIZE(cdev);
	SIZE(kobject);
	SIZE(kref);
	SIZE(mutex);
	SIZE(rw_semaphore);
	SIZE(semaphore);
	SIZE(completion);
	SIZE(wait_queue_head);
	SIZE(hrtimer);
	SIZE(notifier_block);
	SIZE(percpu_counter);
	SIZE(list_lru);
	SIZE(timer_list);
	SIZE(work_struct);
	SIZE(delayed_work);
	SIZE(tasklet_struct);
	SIZE(xarray);
	SIZE(idr);
	SIZE(ida);
	SIZE(rhashtable);
	SIZE(rhltable);
	SIZE(rhashtable_iter);
	SIZE(maple_tree);
	SIZE(shrinker);
	SIZE(inode);
	SIZE(file);
	SIZE(dentry);
	SIZE(address_space);
	SIZE(super_block);
	return ask();
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
