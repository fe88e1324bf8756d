//! Machines that only count their objects do what machines with memory do, under every backend.

use alloc::vec::Vec;

use super::conformance::Random;
use crate::backend::for_each_backend;
use crate::{
    Backend, CacheArgs, CacheId, CpuId, Gfp, Machine, NodeId, ObjPtr, Objects, Site, SlabFlags,
};

const SITE: Site = Site(3);

fn machine<B: Backend>(objects: Objects) -> Machine<B> {
    let builder = Machine::builder().cpus(6).nodes(2).memory_bytes(96 << 20);
    builder.objects(objects).build().unwrap()
}

/// Runs the same work on a machine, and returns every address with the gauges behind it, and all statistics.
fn work<B: Backend>(objects: Objects) -> (Vec<(u64, u64, u64)>, Vec<alloc::string::String>) {
    let machine = machine::<B>(objects);
    let own = |(i, size): (usize, &u32)| {
        let name = ["a", "b", "c", "d", "e"][i];
        let flags = if i == 2 { SlabFlags::TYPESAFE_BY_RCU } else { SlabFlags::NO_MERGE };
        machine.cache_create(&CacheArgs::new(name, *size).flags(flags)).unwrap()
    };
    let caches: Vec<CacheId> = [24, 104, 192, 1000, 6000].iter().enumerate().map(own).collect();
    let cpus = machine.cpus().unwrap();
    let (mut random, mut live, mut seen) = (Random(7), Vec::new(), Vec::new());
    for step in 0..40_000u64 {
        let cpu = cpus.cpu(CpuId(random.below(6) as u32));
        // It rises and falls, so that slabs come and go.
        let wanted = 200 + (step / 4_000 % 2) * 3_000;
        if (live.len() as u64) < wanted && random.below(5) > 0 {
            let (gfp, node) = (Gfp::KERNEL, NodeId(random.below(2) as u32));
            let (cache, obj) = match random.below(8) {
                kind @ 0..5 => {
                    let cache = caches[kind as usize];
                    (Some(cache), cpu.alloc(cache, gfp, SITE))
                }
                5 => (Some(caches[1]), cpu.alloc_node(caches[1], gfp, node, SITE)),
                _ => (None, cpu.kmalloc(8 + random.below(3_000), gfp, SITE)),
            };
            let obj = obj.expect("96 MiB suffice");
            live.push((cache, obj));
            seen.push((obj.get(), machine.gauges().live_bytes, machine.gauges().slabs));
        } else if !live.is_empty() {
            let (cache, obj): (Option<CacheId>, ObjPtr) =
                live.swap_remove(random.below(live.len() as u64) as usize);
            match cache {
                Some(cache) => cpu.free(cache, obj, SITE),
                None => cpu.kfree(obj, SITE),
            }
        }
        if step % 10_000 == 9_999 {
            let balance = machine.validate();
            assert!(balance.is_ok(), "{:#?}", balance.errors);
            cpus.shrink(caches[(step / 10_000) as usize]);
        }
    }
    let stats = machine.caches().into_iter().map(|id| {
        let attributes = machine.cache_attributes(id).unwrap();
        alloc::format!("{attributes:?} {:?}", machine.cache_stats(id))
    });
    let mut stats: Vec<_> = stats.collect();
    let paths: Vec<_> = machine.path_counts().iter().collect();
    stats.push(alloc::format!("{paths:?} {:?}", machine.lock_counts()));
    (seen, stats)
}

fn counted_is_as_in_memory<B: Backend>() {
    assert_eq!(work::<B>(Objects::Counted), work::<B>(Objects::InMemory));
}

macro_rules! counted {
    ($($module:ident $variant:ident $name:literal $what:literal,)*) => {
        $(#[test] fn $variant() { super::counted_is_as_in_memory::<crate::$variant>(); })*
    };
}
#[allow(non_snake_case)]
mod each {
    use super::*;
    for_each_backend!(counted);
}
