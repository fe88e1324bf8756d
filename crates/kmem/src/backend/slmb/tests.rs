//! What SLMB is: SLOB's pages, per CPU and size.

use crate::{CacheArgs, CpuId, Gfp, Machine, Site, Slmb, Tunables};

const SITE: Site = Site(1);

#[test]
fn pages_belong_to_the_cpu_that_took_them() {
    let machine = Machine::<Slmb>::builder().cpus(2).memory_bytes(16 << 20).build().unwrap();
    let cache = machine.cache_create(&CacheArgs::new("c", 40)).unwrap();
    let cpus = machine.cpus().unwrap();
    let (zero, one) = (cpus.cpu(CpuId(0)), cpus.cpu(CpuId(1)));
    let mine = zero.alloc(cache, Gfp::KERNEL, SITE).unwrap();
    let other = one.alloc(cache, Gfp::KERNEL, SITE).unwrap();
    assert_ne!(mine.pfn(), other.pfn());
    let keep = zero.alloc(cache, Gfp::KERNEL, SITE).unwrap();
    one.free(cache, mine, SITE);
    assert_eq!(machine.path_counts().get("free_remote"), 1);
    // CPU 0 can use the room that CPU 1 made in CPU 0's page.
    assert_eq!(zero.alloc(cache, Gfp::KERNEL, SITE), Some(mine));
    assert_eq!(keep.pfn(), mine.pfn());
}

#[test]
fn sizes_do_not_share_pages() {
    let machine = Machine::<Slmb>::builder().memory_bytes(16 << 20).build().unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let mut pages: alloc::vec::Vec<_> = [8u32, 16, 24, 32, 40, 48, 56, 64, 96, 128, 256, 1024]
        .iter()
        .map(|&size| {
            let args = CacheArgs::new("sized", size).flags(crate::SlabFlags::NO_MERGE);
            let cache = machine.cache_create(&args).unwrap();
            cpu.alloc(cache, Gfp::KERNEL, SITE).unwrap().pfn()
        })
        .collect();
    pages.dedup();
    assert_eq!(pages.len(), 12, "one list for each of the twelve ranges");
}

/// Room in the pages of other CPUs and sizes used to be lost when there were no more pages.
#[test]
fn without_pages_those_of_other_cpus_and_sizes_serve() {
    let machine = Machine::<Slmb>::builder().cpus(2).memory_bytes(1 << 20).build().unwrap();
    let args = CacheArgs::new("c", 256).flags(crate::SlabFlags::NO_MERGE);
    let cache = machine.cache_create(&args).unwrap();
    let cpus = machine.cpus().unwrap();
    let (zero, one) = (cpus.cpu(CpuId(0)), cpus.cpu(CpuId(1)));
    let all: alloc::vec::Vec<_> =
        core::iter::from_fn(|| zero.alloc(cache, Gfp::KERNEL, SITE)).collect();
    // One of 16 objects stays, so that no page goes back.
    let (kept, freed): (alloc::vec::Vec<_>, alloc::vec::Vec<_>) =
        all.iter().enumerate().partition(|(i, _)| i % 16 == 0);
    freed.iter().for_each(|(_, obj)| zero.free(cache, **obj, SITE));
    let again = freed.iter().map_while(|_| one.alloc(cache, Gfp::KERNEL, SITE)).count();
    assert_eq!(again, freed.len(), "{} stay", kept.len());
    assert_eq!(one.kmalloc(40, Gfp::KERNEL, SITE), None);
}

/// A size in front of blocks that are aligned to their own size left a gap before each, so only half as many fitted
/// into a page.
#[test]
fn powers_of_two_lie_side_by_side_where_pages_have_maps() {
    let pages_of = |size: u64, header: u32| {
        let tunables = Tunables::default().with("kmalloc_header", header);
        let builder = Machine::<Slmb>::builder().memory_bytes(16 << 20).tunables(tunables);
        let machine = builder.build().unwrap();
        let cpu = machine.cpu(CpuId(0)).unwrap();
        let blocks: alloc::vec::Vec<_> =
            (0..840).map(|_| cpu.kmalloc(size, Gfp::KERNEL, SITE).unwrap()).collect();
        let pages: alloc::collections::BTreeSet<_> =
            blocks.iter().map(|block| block.pfn()).collect();
        blocks.iter().for_each(|block| {
            assert!(block.get().is_multiple_of(size));
            cpu.kfree(*block, SITE);
        });
        drop(cpu);
        let balance = machine.validate();
        assert!(balance.is_ok(), "{:#?}", balance.errors);
        assert_eq!(balance.held_bytes, 0);
        pages.len()
    };
    for (size, maps, headers) in
        [(64, 14, 27), (128, 28, 53), (256, 56, 105), (512, 120, 210), (1024, 280, 420)]
    {
        assert_eq!((pages_of(size, 0), pages_of(size, 1)), (maps, headers), "{size}");
    }
}

/// A block has no marks when it is freed a second time, and nothing is given back.
#[test]
fn what_no_block_begins_at_is_not_given_back() {
    let machine = Machine::<Slmb>::builder().memory_bytes(16 << 20).build().unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let blocks: alloc::vec::Vec<_> =
        (0..3).map(|_| cpu.kmalloc(40, Gfp::KERNEL, SITE).unwrap()).collect();
    cpu.kfree(blocks[1], SITE);
    cpu.kfree(blocks[1], SITE);
    assert_eq!(cpu.kmalloc(40, Gfp::KERNEL, SITE), Some(blocks[1]));
    let other = cpu.kmalloc(40, Gfp::KERNEL, SITE).unwrap();
    assert!(!blocks.contains(&other));
}
