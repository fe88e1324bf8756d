//! What SLUB of 6.18 does: sheaves for the caches that ask for them, and the classic allocator for the others.

use alloc::vec::Vec;

use crate::{CacheArgs, CpuId, Gfp, Machine, Site, SlubHybrid};

const SITE: Site = Site(1);

#[test]
fn only_caches_that_ask_have_sheaves() {
    let machine = Machine::<SlubHybrid>::builder().memory_bytes(16 << 20).build().unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    for (name, paths) in [
        // 32 objects of 256 bytes take two slabs of 16, so a fill takes the fast path, and the slow one for each
        // slab.
        ("maple_node", [("alloc_cpu_sheaf", 40), ("alloc_fastpath", 60), ("alloc_slowpath", 4)]),
        ("dentry", [("alloc_cpu_sheaf", 0), ("alloc_fastpath", 37), ("alloc_slowpath", 3)]),
    ] {
        let cache = machine.cache_create(&CacheArgs::new(name, 256)).unwrap();
        let objects: Vec<_> =
            (0..40).map(|_| cpu.alloc(cache, Gfp::KERNEL, SITE).unwrap()).collect();
        let found = machine.cache_stats(cache).unwrap().paths;
        paths.iter().for_each(|(path, count)| assert_eq!(found.get(path), *count, "{name} {path}"));
        objects.into_iter().for_each(|object| cpu.free(cache, object, SITE));
        let found = machine.cache_stats(cache).unwrap().paths;
        let of_sheaves = if name == "maple_node" { 40 } else { 0 };
        assert_eq!(found.get("free_cpu_sheaf"), of_sheaves, "{name}");
        assert!(machine.validate().is_ok(), "{:?}", machine.validate().errors);
    }
}
