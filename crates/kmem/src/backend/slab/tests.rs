//! What users know from SLAB.

use alloc::vec::Vec;

use crate::{CacheArgs, CpuId, Ctor, Gfp, Machine, Site, Slab, Tunables};

const SITE: Site = Site(1);

fn machine(cpus: u32) -> Machine<Slab> {
    Machine::builder().cpus(cpus).memory_bytes(64 << 20).build().unwrap()
}

#[test]
fn limits_by_size_as_in_linux() {
    let machine = machine(2);
    for (size, limit, batch, shared) in
        [(64, 120, 60, 480), (300, 54, 27, 216), (2000, 24, 12, 96), (5000, 8, 4, 0)]
    {
        let id = machine.cache_create(&CacheArgs::new("sized", size)).unwrap();
        let limits = crate::backend::ops::Ops::array_limits(&machine.backend, machine.slot(id));
        assert_eq!(limits, (limit, batch, shared / batch), "{size} bytes");
    }
}

#[test]
fn kmalloc_starts_at_32() {
    let machine = machine(1);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let obj = cpu.kmalloc(8, Gfp::KERNEL, SITE).unwrap();
    assert_eq!(cpu.ksize(obj), 32);
    assert!(machine.cache_by_name("kmalloc-16").is_none());
}

#[test]
fn slabs_have_colours() {
    let machine = machine(1);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    // 9 objects of 832 bytes leave 704 of two pages, 11 lines: 11 colours.
    let args = CacheArgs::new("coloured", 832);
    let cache = machine.cache_create(&args).unwrap();
    let starts: Vec<u64> = (0..120)
        .map(|_| cpu.alloc(cache, Gfp::KERNEL, SITE).unwrap())
        .filter(|&obj| machine.object_at(obj).unwrap().2 == 0)
        .map(|obj| obj.get() % 8192)
        .collect();
    assert!(starts.len() > 10);
    assert!(starts.windows(2).all(|w| w[1] == (w[0] + 64) % 704), "{starts:?}");
}

#[test]
fn remote_frees_go_through_the_shared_array() {
    let machine = machine(2);
    let cache = machine.cache_create(&CacheArgs::new("moving", 200)).unwrap();
    let cpus = machine.cpus().unwrap();
    for _ in 0..2000 {
        let obj = cpus.cpu(CpuId(0)).alloc(cache, Gfp::KERNEL, SITE).unwrap();
        cpus.cpu(CpuId(1)).free(cache, obj, SITE);
    }
    let paths = machine.cache_stats(cache).unwrap().paths;
    assert!(paths.get("free_shared") > 20 && paths.get("alloc_shared") > 20);
    assert!(paths.get("alloc_slab") < 40, "objects come round again");
}

#[test]
fn time_reaps_what_is_not_used() {
    let machine = machine(1);
    let cache = machine.cache_create(&CacheArgs::new("idle", 1000)).unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let all: Vec<_> = (0..100).map(|_| cpu.alloc(cache, Gfp::KERNEL, SITE).unwrap()).collect();
    all.into_iter().for_each(|obj| cpu.free(cache, obj, SITE));
    let before = machine.cache_stats(cache).unwrap().slabs;
    for second in 1..60 {
        cpu.tick(second * 1_000_000_000);
    }
    let after = machine.cache_stats(cache).unwrap().slabs;
    assert!(before > 5 && after == 0, "{before} slabs, {after} after a minute");
    assert!(machine.validate().is_ok());
}

#[test]
fn constructed_objects_keep_their_list_elsewhere() {
    let machine = machine(1);
    let ctor = Ctor { func: |_, _| {}, context: 0 };
    for size in [40, 700, 2000, 3000] {
        let id = machine.cache_create(&CacheArgs::new("ctor", size).ctor(ctor)).unwrap();
        let cpu = machine.cpu(CpuId(0)).unwrap();
        let all: Vec<_> = (0..50).map(|_| cpu.alloc(id, Gfp::KERNEL, SITE).unwrap()).collect();
        let balance = machine.validate();
        assert!(balance.is_ok(), "{:?}", balance.errors);
        all.into_iter().for_each(|obj| cpu.free(id, obj, SITE));
        assert!(machine.validate().is_ok());
    }
}

#[test]
fn tunables_are_honoured() {
    let machine = machine(1);
    let tunables = Tunables::default().with("limit", 4).with("batchcount", 2);
    let id = machine.cache_create(&CacheArgs::new("small", 64).tunables(tunables)).unwrap();
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let all: Vec<_> = (0..20).map(|_| cpu.alloc(id, Gfp::KERNEL, SITE).unwrap()).collect();
    assert_eq!(machine.cache_stats(id).unwrap().paths.get("alloc_slowpath"), 10);
    all.into_iter().for_each(|obj| cpu.free(id, obj, SITE));
    assert!(machine.validate().is_ok());
}

#[test]
fn arrays_never_hold_objects_of_another_node() {
    let builder = Machine::<Slab>::builder().cpus(2).nodes(2).memory_bytes(8 << 20);
    let machine = builder.build().unwrap();
    let cache = machine.cache_create(&CacheArgs::new("far", 1000)).unwrap();
    let cpus = machine.cpus().unwrap();
    // CPU 0 uses up its own node and goes on with the other's memory.
    let cpu = cpus.cpu(CpuId(0));
    let all: Vec<_> = core::iter::from_fn(|| cpu.alloc(cache, Gfp::KERNEL, SITE)).collect();
    assert!(all.iter().any(|obj| machine.node_of(obj.pfn()).0 == 1));
    for (i, obj) in all.into_iter().enumerate() {
        cpus.cpu(CpuId(i as u32 % 2)).free(cache, obj, SITE);
    }
    let balance = machine.validate();
    assert!(balance.is_ok(), "{:?}", balance.errors);
    cpus.shrink(cache);
    assert_eq!(machine.cache_stats(cache).unwrap().slabs, 0);
}
