//! What users know from SLOB.

use alloc::vec::Vec;

use crate::{CacheArgs, CpuId, Gfp, Machine, Site, Slob};

const SITE: Site = Site(1);

#[test]
fn one_lock_for_everything() {
    let machine = Machine::<Slob>::builder().cpus(2).memory_bytes(16 << 20).build().unwrap();
    let cache = machine.cache_create(&CacheArgs::new("c", 40)).unwrap();
    let cpus = machine.cpus().unwrap();
    let locks = || {
        let counts = machine.lock_counts();
        counts.iter().find(|(name, _)| *name == "slob_lock").unwrap().1
    };
    let first = cpus.cpu(CpuId(0)).alloc(cache, Gfp::KERNEL, SITE).unwrap();
    // The first block needs a page: the lock is given up for it and taken again.
    assert_eq!(locks(), 2);
    let second = cpus.cpu(CpuId(1)).kmalloc(100, Gfp::KERNEL, SITE).unwrap();
    assert_eq!(locks(), 3);
    assert_eq!(first.pfn(), second.pfn(), "blocks of all kinds share pages");
    cpus.cpu(CpuId(1)).free(cache, first, SITE);
    cpus.cpu(CpuId(0)).kfree(second, SITE);
    assert_eq!(locks(), 5);
    assert_eq!(machine.gauges().slab_bytes, 0, "an empty page goes back at once");
}

#[test]
fn blocks_are_packed_without_rounding_to_classes() {
    let machine = Machine::<Slob>::builder().memory_bytes(16 << 20).build().unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let at: Vec<u64> = (0..10).map(|_| cpu.kmalloc(40, Gfp::KERNEL, SITE).unwrap().get()).collect();
    assert!(at.windows(2).all(|w| w[1] - w[0] == 48), "40 bytes and their size in front: {at:?}");
    assert_eq!(cpu.ksize(crate::ObjPtr::new(at[0]).unwrap()), 40);
}

#[test]
fn three_lists_by_size() {
    let machine = Machine::<Slob>::builder().memory_bytes(16 << 20).build().unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    // 247 + 8 = 255 is small, 248 + 8 = 256 is medium, 1016 + 8 = 1024 is large.
    let pages: Vec<_> = [247, 248, 1016]
        .iter()
        .map(|&size| cpu.kmalloc(size, Gfp::KERNEL, SITE).unwrap().pfn())
        .collect();
    assert!(pages[0] != pages[1] && pages[1] != pages[2]);
    assert_eq!(machine.path_counts().get("alloc_slab"), 3);
}
