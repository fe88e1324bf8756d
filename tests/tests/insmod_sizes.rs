//! `slablab insmod`: structures of modules are as large as the kernel's, and so is what they ask memory for.
//!
//! # How it works
//! The numbers are those of the type information in Debian's kernels for amd64, as `bpftool btf dump file vmlinux` prints
//! it: linux-image-6.1.0-56-amd64 (6.1.192), linux-image-6.12.118+deb13-amd64, and linux-binary-7.3.4+deb13-amd64. The
//! calls that ask for memory are those of `alloc_netdev_mqs()`, `netlink_kernel_create()`, `page_pool_create()` and
//! `alloc_skb()` in the sources of these releases.

use std::collections::BTreeMap;

use serde_json::Value;
use slablab_tests::module::{insmod, lines};

const RELEASES: [&str; 3] = ["6.1", "6.12", "7.3"];

/// Structures, and their bytes in each release.
const STRUCTURES: [(&str, [u64; 3]); 53] = [
    ("net_device", [2432, 2560, 2816]),
    ("netdev_queue", [320; 3]),
    ("netdev_rx_queue", [192, 192, 256]),
    ("netdev_hw_addr", [104; 3]),
    ("napi_struct", [400, 400, 512]),
    ("packet_type", [72; 3]),
    ("net_device_stats", [184; 3]),
    ("rtnl_link_stats64", [200; 3]),
    ("pcpu_sw_netstats", [32; 3]),
    ("pcpu_lstats", [16; 3]),
    ("sock", [776, 776, 800]),
    ("sk_buff", [232; 3]),
    ("sk_buff_fclones", [472; 3]),
    ("sk_buff_head", [24; 3]),
    ("skb_shared_info", [320; 3]),
    ("page_pool", [1600, 1664, 1728]),
    ("genl_info", [72, 72, 104]),
    ("genl_dumpit_info", [64, 112, 144]),
    ("genl_ops", [48; 3]),
    ("nla_policy", [16; 3]),
    ("netlink_callback", [128; 3]),
    ("device", [752, 768, 792]),
    ("platform_device", [832, 840, 864]),
    ("miscdevice", [80; 3]),
    ("cdev", [104; 3]),
    ("kobject", [64; 3]),
    ("kref", [4; 3]),
    ("mutex", [32, 32, 24]),
    ("rw_semaphore", [40, 40, 32]),
    ("semaphore", [24; 3]),
    ("completion", [32; 3]),
    ("wait_queue_head", [24; 3]),
    ("hrtimer", [64, 64, 80]),
    ("notifier_block", [24; 3]),
    ("percpu_counter", [40; 3]),
    ("list_lru", [48; 3]),
    ("timer_list", [40; 3]),
    ("work_struct", [32; 3]),
    ("delayed_work", [88; 3]),
    ("tasklet_struct", [40; 3]),
    ("xarray", [16; 3]),
    ("idr", [24; 3]),
    ("ida", [16; 3]),
    ("rhashtable", [136, 136, 160]),
    ("rhltable", [136, 136, 160]),
    ("rhashtable_iter", [64; 3]),
    ("maple_tree", [24, 16, 16]),
    ("shrinker", [64, 128, 128]),
    ("inode", [632, 624, 560]),
    ("file", [232, 184, 176]),
    ("dentry", [192; 3]),
    ("address_space", [192, 192, 152]),
    ("super_block", [1472, 1408, 1408]),
];

/// What a device with 100 bytes of its driver, a socket of netlink, a pool of pages and a packet of 100 bytes ask for.
/// Up to 6.10 a device's block has 31 bytes more, so that it can begin at a multiple of 32.
const ASKED: [&[u64]; 3] = [
    &[2432 + 100 + 31, 320, 192, 104, 1088, 24, 1600, 8192, 232, 512],
    &[2560 + 100, 320, 192, 104, 56, 1088, 24, 1664, 8192, 232, 704],
    &[2816 + 100, 320, 256, 104, 48, 8, 1056, 1104, 24, 1728, 8192, 232, 704],
];

#[test]
fn structures_are_as_large_as_the_kernels() {
    for (i, release) in RELEASES.into_iter().enumerate() {
        let printed = lines(&insmod("kernel_sizes", &["--kernel-version", release]));
        let sizes: BTreeMap<&str, u64> = printed
            .iter()
            .filter_map(|line| line.split_once(" is "))
            .map(|(name, bytes)| (name, bytes.parse().expect("a number of bytes")))
            .collect();
        let wrong: Vec<_> = STRUCTURES
            .iter()
            .filter(|(name, bytes)| sizes.get(name) != Some(&bytes[i]))
            .map(|(name, bytes)| format!("{name}: {:?}, not {}", sizes.get(name), bytes[i]))
            .collect();
        assert!(wrong.is_empty(), "{release}: {wrong:?}");
        assert_eq!(sizes.len(), STRUCTURES.len(), "{release}");
    }
}

/// A socket used to take 1016 bytes, which is another size class, and a device one block less.
#[test]
fn what_is_asked_for_has_the_sizes_of_the_kernels() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    for (i, release) in RELEASES.into_iter().enumerate() {
        let words = ["--explain", page.to_str().unwrap(), "--format", "json", "--check", "2"];
        let output = insmod("kernel_sizes", &[&words[..], &["--kernel-version", release]].concat());
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let mut asked = Vec::new();
        for cache in answer["memory"]["caches"].as_array().expect("caches") {
            for size in cache["sizes"].as_array().expect("sizes") {
                let times = size["allocations"].as_u64().expect("a number");
                asked.extend((0..times).map(|_| size["bytes"].as_u64().expect("a number")));
            }
        }
        let mut expected = ASKED[i].to_vec();
        asked.sort_unstable();
        expected.sort_unstable();
        assert_eq!(asked, expected, "{release}");
        assert_eq!(answer["findings"], Value::Array(Vec::new()), "{release}");
    }
}
