//! Readers, and objects that wait for them, under every backend.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::backend::for_each_backend;
use crate::tests::conformance::assert_balanced;
use crate::{
    Backend, CacheArgs, CheckLevel, Cpu, CpuId, Error, FindingKind, Gfp, Machine, ObjPtr, Readers,
    Site, SlabFlags,
};

const SITE: Site = Site(7);

fn machine<B: Backend>(check: CheckLevel, readers: Readers) -> Machine<B> {
    let builder = Machine::builder().cpus(2).memory_bytes(8 << 20);
    builder.check(check).readers(readers).build().unwrap()
}

/// Fills a type-safe cache's objects with a byte.
fn type_safe<B: Backend>(cpu: &Cpu<'_, B>) -> (crate::CacheId, Vec<ObjPtr>) {
    let args = CacheArgs::new("typesafe", 100).flags(SlabFlags::TYPESAFE_BY_RCU);
    let cache = cpu.machine().cache_create(&args).unwrap();
    let objects: Vec<_> = (0..300).map(|_| cpu.alloc(cache, Gfp::KERNEL, SITE).unwrap()).collect();
    objects.iter().for_each(|obj| cpu.machine().core.arena.fill(obj.get(), 100, 0x77));
    (cache, objects)
}

/// Takes all the memory there is and returns how many of the objects are unchanged; byte 40 lies outside the
/// links.
fn seen<B: Backend>(cpu: &Cpu<'_, B>, objects: &[ObjPtr]) -> usize {
    let arena = &cpu.machine().core.arena;
    let others: Vec<_> = core::iter::from_fn(|| cpu.kmalloc(90, Gfp::KERNEL, SITE)).collect();
    others.iter().for_each(|obj| arena.fill(obj.get(), 90, 0x11));
    let is_seen = |obj: &&ObjPtr| arena.byte(obj.get() + 40) == 0x77;
    let count = objects.iter().filter(is_seen).count();
    others.into_iter().for_each(|obj| cpu.kfree(obj, SITE));
    count
}

/// SLOB and SLMB used to give the memory to other objects at once.
fn type_safe_objects_stay_while_a_reader_looks<B: Backend>() {
    for check in [CheckLevel::Off, CheckLevel::Cheap] {
        let machine = machine::<B>(check, Readers::Cpus);
        let (reader, cpu) = (machine.cpu(CpuId(0)).unwrap(), machine.cpu(CpuId(1)).unwrap());
        let (cache, objects) = type_safe(&cpu);
        reader.rcu_read(|| {
            objects.iter().for_each(|&obj| cpu.free(cache, obj, SITE));
            cpu.shrink(cache);
            assert_eq!(seen(&cpu, &objects), objects.len());
            assert_balanced(&machine);
        });
        cpu.rcu_barrier();
        assert_balanced(&machine);
        cpu.cache_destroy(cache, SITE).unwrap();
        assert_eq!((machine.gauges().live_bytes, machine.findings_count()), (0, 0));
    }
}

/// A thread that reads by `slablab_rcu` alone is a reader, if the machine is told so.
fn threads_are_readers_where_they_are_asked_for<B: Backend>() {
    let machine = machine::<B>(CheckLevel::Off, Readers::Threads);
    let (reads, done) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let section = slablab_rcu::pin();
            reads.store(true, Ordering::Release);
            while !done.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            drop(section);
        });
        while !reads.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        let cpu = machine.cpu(CpuId(0)).unwrap();
        let (cache, objects) = type_safe(&cpu);
        let block = cpu.kmalloc(90, Gfp::KERNEL, SITE).unwrap();
        machine.core.arena.fill(block.get(), 90, 0x77);
        cpu.kfree_rcu(block, SITE);
        objects.iter().for_each(|&obj| cpu.free(cache, obj, SITE));
        cpu.shrink(cache);
        cpu.tick(1);
        assert_eq!(seen(&cpu, &objects) + seen(&cpu, &[block]), objects.len() + 1);
        done.store(true, Ordering::Release);
        reader.join().unwrap();
        cpu.rcu_barrier();
        cpu.cache_destroy(cache, SITE).unwrap();
    });
    assert_balanced(&machine);
}

/// It used to panic with the cache's user removed, so that the cache could never be destroyed
/// afterwards.
fn a_cache_is_not_destroyed_inside_a_section<B: Backend>() {
    let machine = machine::<B>(CheckLevel::Off, Readers::Threads);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    let cache = machine.cache_create(&CacheArgs::new("victim", 99)).unwrap();
    let refused = Err(Error::Reading { name: "victim".into() });
    cpu.rcu_read(|| {
        let block = cpu.kmalloc(64, Gfp::KERNEL, SITE).unwrap();
        cpu.kfree_rcu(block, SITE);
        assert_eq!(cpu.cache_destroy(cache, SITE), refused);
    });
    let section = slablab_rcu::pin();
    assert_eq!(cpu.cache_destroy(cache, SITE), refused);
    drop((section, cpu));
    let cpus = machine.cpus().unwrap();
    cpus.cpu(CpuId(1)).rcu_read(|| assert_eq!(cpus.cache_destroy(cache, SITE), refused));
    assert_eq!(cpus.cache_destroy(cache, SITE), Ok(()));
    assert!(!machine.caches().contains(&cache));
}

/// The second free used to panic, or to give a finding that named no call site.
fn an_object_given_to_kfree_rcu_twice_is_a_double_free<B: Backend>() {
    for check in [CheckLevel::Cheap, CheckLevel::Full, CheckLevel::Paranoid] {
        let machine = machine::<B>(check, Readers::Cpus);
        let (reader, cpu) = (machine.cpu(CpuId(0)).unwrap(), machine.cpu(CpuId(1)).unwrap());
        let block = cpu.kmalloc(64, Gfp::KERNEL, Site(1)).unwrap();
        reader.rcu_read(|| {
            cpu.kfree_rcu(block, Site(2));
            cpu.kfree_rcu(block, Site(3));
            cpu.kfree(block, Site(4));
        });
        cpu.rcu_barrier();
        cpu.kfree(block, Site(5));
        let findings = machine.take_findings();
        let sites: Vec<_> = findings.iter().map(|f| (f.site.0, f.site_before)).collect();
        let first = Some(Site(2));
        assert_eq!(sites, [(3, first), (4, first), (5, first)], "{findings:#?}");
        assert!(findings.iter().all(|finding| finding.kind == FindingKind::DoubleFree));
        assert_balanced(&machine);
    }
}

macro_rules! readers {
    ($($module:ident $variant:ident $name:literal $what:literal,)*) => {
        $(mod $variant {
            readers!(@tests $variant type_safe_objects_stay_while_a_reader_looks
                threads_are_readers_where_they_are_asked_for a_cache_is_not_destroyed_inside_a_section
                an_object_given_to_kfree_rcu_twice_is_a_double_free);
        })*
    };
    (@tests $variant:ident $($test:ident)*) => {
        $(#[test] fn $test() { super::$test::<crate::$variant>(); })*
    };
}
#[allow(non_snake_case)]
mod each {
    use super::*;
    for_each_backend!(readers);
}
