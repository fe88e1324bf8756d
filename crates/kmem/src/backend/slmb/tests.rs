//! What SLMB is: SLOB's pages, per CPU and size.

use crate::{CacheArgs, CpuId, Gfp, Machine, Site, Slmb};

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
    // Room that CPU 1 made in CPU 0's page is CPU 0's to use.
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

/// What lay free in the pages of other CPUs and sizes was lost when there were no more pages.
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
