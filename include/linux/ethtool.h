/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What users ask of a network device's driver; a step of --do asks for its names, its link and its numbers.
 *
 * Linux counterpart: include/linux/ethtool.h @ 6.1 to 7.3, without what belongs to hardware.
 */
#ifndef _LINUX_ETHTOOL_H
#define _LINUX_ETHTOOL_H

#include <linux/types.h>

#define ETH_GSTRING_LEN 32
#define ETHTOOL_FWVERS_LEN 32
#define ETHTOOL_BUSINFO_LEN 32

enum {
	SPEED_10 = 10,
	SPEED_100 = 100,
	SPEED_1000 = 1000,
	SPEED_10000 = 10000,
	SPEED_UNKNOWN = -1,
	DUPLEX_HALF = 0,
	DUPLEX_FULL = 1,
	DUPLEX_UNKNOWN = 0xff,
	AUTONEG_DISABLE = 0,
	AUTONEG_ENABLE = 1,
	PORT_TP = 0,
	PORT_OTHER = 0xff,
};

enum ethtool_stringset {
	ETH_SS_TEST,
	ETH_SS_STATS,
	ETH_SS_PRIV_FLAGS,
};

struct net_device;
struct ethtool_drvinfo {
	__u32 cmd;
	char driver[32], version[32], fw_version[ETHTOOL_FWVERS_LEN], bus_info[ETHTOOL_BUSINFO_LEN];
	char erom_version[32], reserved2[12];
	__u32 n_priv_flags, n_stats, testinfo_len, eedump_len, regdump_len;
};
struct ethtool_link_settings {
	__u32 cmd, speed;
	__u8 duplex, port, phy_address, autoneg;
};
struct ethtool_link_ksettings {
	struct ethtool_link_settings base;
	__u64 supported, advertising;
};
struct ethtool_stats {
	__u32 cmd, n_stats;
};
struct ethtool_ringparam {
	__u32 cmd, rx_max_pending, rx_mini_max_pending, rx_jumbo_max_pending, tx_max_pending;
	__u32 rx_pending, rx_mini_pending, rx_jumbo_pending, tx_pending;
};
struct ethtool_ts_info {
	__u32 cmd, so_timestamping;
	int phc_index;
	__u32 tx_types, rx_filters;
};
/* Its name since 6.11. */
#define kernel_ethtool_ts_info ethtool_ts_info

struct ethtool_ops {
	u32 supported_coalesce_params;
	void (*get_drvinfo)(struct net_device *dev, struct ethtool_drvinfo *info);
	u32 (*get_msglevel)(struct net_device *dev);
	void (*set_msglevel)(struct net_device *dev, u32 level);
	int (*nway_reset)(struct net_device *dev);
	u32 (*get_link)(struct net_device *dev);
	void (*get_strings)(struct net_device *dev, u32 set, u8 *strings);
	void (*get_ethtool_stats)(struct net_device *dev, struct ethtool_stats *stats, u64 *numbers);
	int (*get_sset_count)(struct net_device *dev, int set);
	int (*begin)(struct net_device *dev);
	void (*complete)(struct net_device *dev);
	int (*get_ts_info)(struct net_device *dev, struct ethtool_ts_info *info);
	int (*get_link_ksettings)(struct net_device *dev, struct ethtool_link_ksettings *settings);
	int (*set_link_ksettings)(struct net_device *dev, const struct ethtool_link_ksettings *settings);
};

extern u32 ethtool_op_get_link(struct net_device *dev);
extern int ethtool_op_get_ts_info(struct net_device *dev, struct ethtool_ts_info *info);
/* One name at *@strings, which moves behind it. */
extern void ethtool_puts(u8 **strings, const char *name);
extern void ethtool_sprintf(u8 **strings, const char *fmt, ...) __attribute__((__format__(__printf__, 2, 3)));

#endif
