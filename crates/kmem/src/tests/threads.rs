//! Library use: real threads, remote frees, every backend.

use alloc::vec::Vec;
use std::sync::mpsc::channel;

use crate::backend::for_each_backend;
use crate::tests::conformance::{Random, assert_balanced};
use crate::{Backend, CacheArgs, CheckLevel, CpuId, Gfp, Machine, ObjPtr, Site};

const SITE: Site = Site(1);
const THREADS: u32 = 8;

/// Objects go round a ring of threads; each is stamped whole by its allocator and checked by
/// whoever frees it.
fn objects_travel<B: Backend>() {
    let machine = Machine::<B>::builder().cpus(THREADS).memory_bytes(256 << 20).build().unwrap();
    let machine = &machine;
    let cache = machine.cache_create(&CacheArgs::new("travel", 88)).unwrap();
    let (senders, receivers): (Vec<_>, Vec<_>) =
        (0..THREADS).map(|_| channel::<(ObjPtr, u64, u8)>()).unzip();
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (i, inbox) in receivers.into_iter().enumerate() {
            let next = senders[(i + 1) % THREADS as usize].clone();
            threads.push(scope.spawn(move || {
                let cpu = machine.cpu(CpuId(i as u32)).unwrap();
                let mut random = Random(0x1234 + i as u64);
                let take = |(obj, size, stamp): (ObjPtr, u64, u8)| {
                    let arena = &machine.core.arena;
                    assert!((0..size).all(|i| arena.byte(obj.get() + i) == stamp));
                    if size == 88 { cpu.free(cache, obj, SITE) } else { cpu.kfree(obj, SITE) }
                };
                for _ in 0..4_000 {
                    let size = if random.below(2) == 0 { 88 } else { 1 + random.below(87) };
                    let got = match size {
                        88 => cpu.alloc(cache, Gfp::KERNEL, SITE),
                        size => cpu.kmalloc(size, Gfp::KERNEL, SITE),
                    };
                    let Some(obj) = got else { continue };
                    let stamp = random.next() as u8;
                    machine.core.arena.fill(obj.get(), size, stamp);
                    next.send((obj, size, stamp)).unwrap();
                    inbox.try_iter().take(2).for_each(take);
                }
                drop(next);
                inbox.iter().for_each(take);
            }));
        }
        drop(senders);
        // ThreadSanitizer does not see what the end of a scope hands over.
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert_balanced(machine);
    assert_eq!(machine.gauges().live_bytes, 0);
    assert_eq!(machine.findings_count(), 0);
}

macro_rules! threads {
    ($($module:ident $variant:ident $name:literal $what:literal,)*) => {
        $(#[test] fn $variant() { objects_travel::<crate::$variant>(); })*
    };
}
#[allow(non_snake_case)]
mod each {
    use super::*;
    for_each_backend!(threads);
}

/// A check that forgot what a new block lies over also forgot a neighbour that another CPU was just given;
/// freeing that was reported as the free of a foreign pointer.
fn neighbours_stay_known<B: Backend>() {
    let machine = Machine::<B>::builder().cpus(4).memory_bytes(16 << 20);
    let machine = machine.check(CheckLevel::Cheap).build().unwrap();
    let machine = &machine;
    std::thread::scope(|scope| {
        let threads = [0, 1, 2, 3].map(|id| {
            scope.spawn(move || {
                let cpu = machine.cpu(CpuId(id)).unwrap();
                let mut random = Random(0x99 + u64::from(id));
                let mut held = [None; 16];
                for _ in 0..60_000 {
                    let at = random.below(16) as usize;
                    match held[at].take() {
                        Some(obj) => cpu.kfree(obj, SITE),
                        None => held[at] = cpu.kmalloc(8 + random.below(64), Gfp::KERNEL, SITE),
                    }
                }
                held.into_iter().flatten().for_each(|obj| cpu.kfree(obj, SITE));
            })
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert_eq!(machine.findings_count(), 0);
    assert_eq!(machine.gauges().live_bytes, 0);
}

#[test]
fn objects_of_carved_pages_stay_known_while_a_neighbour_is_allocated() {
    neighbours_stay_known::<crate::Slob>();
    neighbours_stay_known::<crate::Slmb>();
    neighbours_stay_known::<crate::Dense>();
}

/// Zeroing and copying used plain stores: a data race with any thread that read a byte of the machine's
/// memory.
#[test]
fn bytes_may_be_read_while_a_block_is_zeroed_or_copied() {
    let machine = Machine::<crate::Slub>::builder().cpus(2).memory_bytes(16 << 20).build().unwrap();
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let pages = (0..30).flat_map(|_| 1..4096u64);
            pages.map(|page| machine.read_byte(ObjPtr::new(page * 4096 + 40).unwrap())).max()
        });
        let cpu = machine.cpu(CpuId(0)).unwrap();
        while !reader.is_finished() {
            let obj = cpu.kzalloc(1000, Gfp::KERNEL, SITE).unwrap();
            let obj = cpu.krealloc(Some(obj), 3001, Gfp::KERNEL, SITE).unwrap();
            machine.write_byte(obj, 1);
            cpu.kfree(obj, SITE);
        }
        reader.join().unwrap();
    });
    assert_balanced(&machine);
}
