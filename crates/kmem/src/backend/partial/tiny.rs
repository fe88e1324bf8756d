//! How an allocator takes little memory: settings of SLUB_TINY, which `dense` shares.
//!
//! Linux counterpart: `CONFIG_SLUB_TINY` in `mm/slub.c`, `include/linux/slab.h` and `mm/slab_common.c` @ 6.12.

use crate::KmallocType;
use crate::cache::args::{CacheArgs, Tunable};
use crate::cache::{KmallocConfig, SlabFlags};
use crate::ids::Order;

/// Highest order chosen for little waste (`slub_max_order`).
pub(in crate::backend) const ORDER_MAX: Order = Order(1);

/// What can be tuned.
pub(in crate::backend) const TUNABLES: &[Tunable] = &[
    Tunable::new(("order", "order"), 10, "order of every slab"),
    Tunable::new(("min_partial", "min-partial"), u32::MAX, "empty slabs that a node keeps"),
];

/// Leaves out the kmalloc caches of reclaimable objects and the random copies.
pub(in crate::backend) fn adjust_kmalloc(config: &mut KmallocConfig) {
    config.types.retain(|&kind| kind != KmallocType::Reclaim);
    config.copies = 1;
}

/// Lets caches of reclaimable objects share slabs with others.
pub(in crate::backend) fn adjust_cache(args: &mut CacheArgs) {
    args.flags = args.flags.without(SlabFlags::RECLAIM_ACCOUNT);
}
