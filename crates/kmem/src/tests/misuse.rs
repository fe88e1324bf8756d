//! Twelve kinds of misuse under every backend: each is reported exactly once, with both sites.

use crate::backend::for_each_backend;
use crate::tests::conformance::assert_balanced;
use crate::{
    Backend, CacheArgs, CacheId, CheckLevel, Cpu, CpuId, Error, Finding, FindingKind, Gfp, Machine,
    ObjPtr, Order, Site,
};

const ALLOC: Site = Site(101);
const FREE: Site = Site(202);
const AGAIN: Site = Site(303);

fn machine<B: Backend>(level: CheckLevel) -> Machine<B> {
    Machine::builder().cpus(2).memory_bytes(16 << 20).check(level).build().unwrap()
}

fn cache<B: Backend>(machine: &Machine<B>, name: &str) -> CacheId {
    machine.cache_create(&CacheArgs::new(name, 56)).unwrap()
}

/// Runs `misuse` at a level and expects one finding of a kind, and none at the level below.
fn expect_one<B: Backend>(
    level: CheckLevel,
    kind: FindingKind,
    misuse: impl Fn(&Machine<B>, &Cpu<'_, B>),
) -> Finding {
    let machine = machine::<B>(level);
    let cpu = machine.cpu(CpuId(0)).unwrap();
    misuse(&machine, &cpu);
    let findings = machine.take_findings();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!(machine.findings_count(), 1);
    assert_eq!(findings[0].kind, kind, "{}", findings[0]);
    findings[0].clone()
}

fn alloc<B: Backend>(cpu: &Cpu<'_, B>, cache: CacheId) -> ObjPtr {
    cpu.alloc(cache, Gfp::KERNEL, ALLOC).unwrap()
}

fn poke<B: Backend>(machine: &Machine<B>, obj: ObjPtr, offset: i64) {
    let at = obj.get().wrapping_add_signed(offset);
    machine.core.arena.set_byte(at, 0x11);
}

fn double_free<B: Backend>() {
    let finding = expect_one::<B>(CheckLevel::Cheap, FindingKind::DoubleFree, |machine, cpu| {
        let cache = cache(machine, "victim");
        let (obj, _keep) = (alloc(cpu, cache), alloc(cpu, cache));
        cpu.free(cache, obj, FREE);
        cpu.free(cache, obj, AGAIN);
        assert_balanced(machine);
    });
    assert_eq!((finding.site, finding.site_before), (AGAIN, Some(FREE)));
    assert_eq!(finding.cache, "victim");
}

fn wrong_cache<B: Backend>() {
    let finding = expect_one::<B>(CheckLevel::Cheap, FindingKind::WrongCache, |machine, cpu| {
        let other = machine.cache_create(&CacheArgs::new("other", 120)).unwrap();
        let obj = alloc(cpu, cache(machine, "owner"));
        cpu.free(other, obj, FREE);
        assert_balanced(machine);
    });
    assert_eq!((finding.site, finding.site_before), (FREE, Some(ALLOC)));
    assert!(finding.cache == "owner" && finding.detail.contains("other"));
}

fn interior_pointer<B: Backend>() {
    let finding =
        expect_one::<B>(CheckLevel::Cheap, FindingKind::InteriorPointer, |machine, cpu| {
            let cache = cache(machine, "victim");
            let obj = alloc(cpu, cache);
            cpu.free(cache, ObjPtr::new(obj.get() + 16).unwrap(), FREE);
        });
    assert_eq!((finding.offset, finding.site_before), (16, Some(ALLOC)));
}

fn unaligned<B: Backend>() {
    let finding = expect_one::<B>(CheckLevel::Cheap, FindingKind::Unaligned, |machine, cpu| {
        let obj = alloc(cpu, cache(machine, "victim"));
        cpu.kfree(ObjPtr::new(obj.get() + 3).unwrap(), FREE);
    });
    assert_eq!((finding.offset, finding.site), (3, FREE));
}

fn foreign_pointer<B: Backend>() {
    let finding = expect_one::<B>(CheckLevel::Off, FindingKind::ForeignPointer, |_, cpu| {
        cpu.kfree(ObjPtr::new(1 << 40).unwrap(), FREE);
    });
    assert_eq!(finding.site, FREE);
    expect_one::<B>(CheckLevel::Cheap, FindingKind::ForeignPointer, |_, cpu| {
        cpu.kfree(ObjPtr::new(8 << 20).unwrap(), FREE);
    });
}

fn other_machine<B: Backend>() {
    let other = machine::<B>(CheckLevel::Off);
    let stranger = other.cpu(CpuId(0)).unwrap().kmalloc(64, Gfp::KERNEL, ALLOC).unwrap();
    let finding = expect_one::<B>(CheckLevel::Off, FindingKind::ForeignPointer, |_, cpu| {
        cpu.kfree_address(other.address(stranger).as_ptr(), FREE);
    });
    assert_eq!(finding.site, FREE);
}

fn overflow_right<B: Backend>() {
    let finding = expect_one::<B>(CheckLevel::Full, FindingKind::OverflowRight, |machine, cpu| {
        let cache = cache(machine, "victim");
        let obj = alloc(cpu, cache);
        poke(machine, obj, 56);
        cpu.free(cache, obj, FREE);
        assert_balanced(machine);
    });
    assert_eq!((finding.offset, finding.site, finding.site_before), (56, FREE, Some(ALLOC)));
    assert!(finding.detail.contains("expected 0xcc, found 0x11"), "{}", finding.detail);
}

fn overflow_left<B: Backend>() {
    let finding = expect_one::<B>(CheckLevel::Full, FindingKind::OverflowLeft, |machine, cpu| {
        let cache = cache(machine, "victim");
        let obj = alloc(cpu, cache);
        poke(machine, obj, -1);
        cpu.free(cache, obj, FREE);
    });
    assert_eq!((finding.offset, finding.site_before), (-1, Some(ALLOC)));
}

/// A kmalloc block has a slab's red zones, or those of a carved block.
fn overflow_of_kmalloc<B: Backend>() {
    for (size, at, kind) in [
        (64, 64, FindingKind::OverflowRight),
        (64, -1, FindingKind::OverflowLeft),
        (1024, 1031, FindingKind::OverflowRight),
        (1024, -8, FindingKind::OverflowLeft),
    ] {
        let finding = expect_one::<B>(CheckLevel::Full, kind, |machine, cpu| {
            let obj = cpu.kmalloc(size, Gfp::KERNEL, ALLOC).unwrap();
            let after = cpu.kmalloc(size, Gfp::KERNEL, ALLOC).unwrap();
            poke(machine, obj, at);
            cpu.kfree(obj, FREE);
            cpu.kfree(after, FREE);
            assert_balanced(machine);
        });
        assert_eq!((finding.offset, finding.site, finding.site_before), (at, FREE, Some(ALLOC)));
    }
}

fn write_after_free<B: Backend>() {
    let finding = expect_one::<B>(CheckLevel::Full, FindingKind::WriteAfterFree, |machine, cpu| {
        let cache = cache(machine, "victim");
        let (obj, _keep) = (alloc(cpu, cache), alloc(cpu, cache));
        cpu.free(cache, obj, FREE);
        poke(machine, obj, 5);
        assert_eq!(cpu.alloc(cache, Gfp::KERNEL, AGAIN), Some(obj));
    });
    assert_eq!((finding.offset, finding.site, finding.site_before), (5, AGAIN, Some(FREE)));
}

fn destroy_with_objects<B: Backend>() {
    let finding =
        expect_one::<B>(CheckLevel::Cheap, FindingKind::DestroyWithObjects, |machine, cpu| {
            let cache = cache(machine, "busy");
            let obj = alloc(cpu, cache);
            let busy = Error::Busy { name: "busy".into(), objects: 1 };
            assert_eq!(cpu.cache_destroy(cache, FREE), Err(busy));
            cpu.free(cache, obj, FREE);
            assert_eq!(cpu.cache_destroy(cache, FREE), Ok(()));
            assert!(machine.cache_stats(cache).is_none());
        });
    assert_eq!((finding.site, finding.site_before), (FREE, Some(ALLOC)));
}

fn use_after_destroy<B: Backend>() {
    let finding =
        expect_one::<B>(CheckLevel::Cheap, FindingKind::UseAfterDestroy, |machine, cpu| {
            let cache = cache(machine, "gone");
            cpu.cache_destroy(cache, FREE).unwrap();
            assert!(cpu.alloc(cache, Gfp::KERNEL, AGAIN).is_none());
        });
    assert_eq!(finding.site, AGAIN);
}

fn huge_size<B: Backend>() {
    let finding = expect_one::<B>(CheckLevel::Cheap, FindingKind::BadSize, |_, cpu| {
        assert!(cpu.kmalloc(-5i64 as u64, Gfp::KERNEL, ALLOC).is_none());
        assert!(cpu.kmalloc(5 << 20, Gfp::KERNEL | Gfp::NOWARN, ALLOC).is_none());
    });
    assert_eq!(finding.site, ALLOC);
}

fn order_too_large<B: Backend>() {
    expect_one::<B>(CheckLevel::Cheap, FindingKind::BadOrder, |_, cpu| {
        assert!(cpu.alloc_pages(Order(11), Gfp::KERNEL).is_none());
    });
    let finding = expect_one::<B>(CheckLevel::Off, FindingKind::BadOrder, |_, cpu| {
        let pfn = cpu.alloc_pages(Order(2), Gfp::KERNEL).unwrap();
        cpu.free_pages(pfn, Order(1), FREE);
    });
    assert_eq!(finding.site, FREE);
}

/// Where blocks are carved only its cache knows the size of an object; such a kfree used to panic, or to
/// leak.
fn a_carved_object_of_a_cache_is_not_for_kfree<B: Backend>() {
    if B::KIND.has_kmalloc_caches() {
        return;
    }
    let frees: [fn(&Cpu<'_, B>, ObjPtr); 2] =
        [|cpu, obj| cpu.kfree(obj, FREE), |cpu, obj| cpu.kfree_rcu(obj, FREE)];
    for free in frees {
        for level in [CheckLevel::Cheap, CheckLevel::Full] {
            let finding = expect_one::<B>(level, FindingKind::WrongCache, |machine, cpu| {
                let cache = cache(machine, "victim");
                let objects = [(); 20].map(|()| alloc(cpu, cache));
                assert_eq!(cpu.ksize(objects[5]), 56);
                free(cpu, objects[5]);
                cpu.rcu_barrier();
                assert_eq!(machine.cache_stats(cache).unwrap().objects_live, 20);
                cpu.free_bulk(cache, objects.into_iter(), AGAIN);
                assert_balanced(machine);
            });
            assert_eq!((finding.site, finding.site_before), (FREE, Some(ALLOC)));
            assert_eq!(finding.cache, "victim");
        }
    }
    // A map, or a size that no block has, gives such a free away even without checks.
    expect_one::<B>(CheckLevel::Off, FindingKind::ForeignPointer, |machine, cpu| {
        let cache = cache(machine, "victim");
        let objects = [(); 2].map(|()| alloc(cpu, cache));
        objects.iter().for_each(|obj| machine.core.arena.fill(obj.get(), 56, 0x41));
        assert_eq!(cpu.ksize(objects[1]), 0);
        cpu.kfree_rcu(objects[1], FREE);
    });
}

/// These used to panic where kfree had a finding.
fn what_kfree_refuses_is_not_allocated_anew<B: Backend>() {
    type Wrong<B> = fn(&Cpu<'_, B>) -> ObjPtr;
    let cases: [(CheckLevel, FindingKind, Wrong<B>); 5] = [
        (CheckLevel::Off, FindingKind::ForeignPointer, |_| ObjPtr::new(1 << 40).unwrap()),
        (CheckLevel::Off, FindingKind::ForeignPointer, |cpu| {
            let pfn = cpu.alloc_pages(Order(0), Gfp::KERNEL).unwrap();
            ObjPtr::new(pfn.offset()).unwrap()
        }),
        (CheckLevel::Off, FindingKind::Unaligned, |cpu| {
            ObjPtr::new(cpu.kmalloc(64, Gfp::KERNEL, ALLOC).unwrap().get() + 4).unwrap()
        }),
        (CheckLevel::Cheap, FindingKind::InteriorPointer, |cpu| {
            ObjPtr::new(cpu.kmalloc(64, Gfp::KERNEL, ALLOC).unwrap().get() + 8).unwrap()
        }),
        (CheckLevel::Cheap, FindingKind::DoubleFree, |cpu| {
            let obj = cpu.kmalloc(64, Gfp::KERNEL, ALLOC).unwrap();
            cpu.kfree(obj, FREE);
            obj
        }),
    ];
    for (level, kind, wrong) in cases {
        for size in [16, 9000] {
            let finding = expect_one::<B>(level, kind, |machine, cpu| {
                assert_eq!(cpu.krealloc(Some(wrong(cpu)), size, Gfp::KERNEL, AGAIN), None);
                assert_balanced(machine);
            });
            assert_eq!(finding.site, AGAIN);
        }
    }
}

/// Nothing is reported, and nothing leaks, when nothing is wrong.
fn correct_use_at_every_level<B: Backend>() {
    for level in [CheckLevel::Cheap, CheckLevel::Full, CheckLevel::Paranoid] {
        let machine = machine::<B>(level);
        let cpu = machine.cpu(CpuId(0)).unwrap();
        let cache = cache(&machine, "fine");
        for round in 0..10 {
            let mut all = [None; 20];
            assert!(cpu.alloc_bulk(cache, Gfp::KERNEL, &mut all, ALLOC));
            let large = cpu.kmalloc(9000 << (round % 3), Gfp::KERNEL, ALLOC).unwrap();
            let small = cpu.kmalloc(10 + round * 50, Gfp::KERNEL, ALLOC).unwrap();
            machine.core.arena.fill(all[3].unwrap().get(), 56, 0xff);
            cpu.kfree(large, FREE);
            cpu.free_bulk(cache, all.into_iter().flatten(), FREE);
            cpu.kfree(small, FREE);
        }
        cpu.cache_destroy(cache, FREE).unwrap();
        assert_eq!(machine.take_findings(), []);
    }
}

/// SLUB links free objects through their memory: an overwritten link ends its list.
#[test]
fn damaged_free_list() {
    let finding = expect_one::<crate::Slub>(
        CheckLevel::Cheap,
        FindingKind::FreeListCorrupt,
        |machine, cpu| {
            let cache = cache(machine, "victim");
            let (a, b) = (alloc(cpu, cache), alloc(cpu, cache));
            cpu.free(cache, a, FREE);
            cpu.free(cache, b, FREE);
            poke(machine, b, 24);
            assert_eq!(cpu.alloc(cache, Gfp::KERNEL, AGAIN), Some(b));
            assert_balanced(machine);
            let other = alloc(cpu, cache);
            assert_ne!(other.pfn(), b.pfn(), "the rest of the list is lost");
            cpu.free(cache, b, FREE);
            cpu.free(cache, other, FREE);
            cpu.shrink(cache);
            assert_balanced(machine);
            assert_eq!(machine.cache_stats(cache).unwrap().slabs, 0, "but not its slab");
        },
    );
    assert_eq!((finding.offset, finding.site, finding.site_before), (24, AGAIN, Some(FREE)));
    assert_eq!(finding.cache, "victim");
}

/// Without checks the links are plain, because the fast path is.
#[test]
fn links_are_encoded_when_checked() {
    for (level, plain) in [(CheckLevel::Off, true), (CheckLevel::Cheap, false)] {
        let machine = machine::<crate::Slub>(level);
        let cpu = machine.cpu(CpuId(0)).unwrap();
        let cache = cache(&machine, "links");
        let (a, b) = (alloc(&cpu, cache), alloc(&cpu, cache));
        cpu.free(cache, a, FREE);
        cpu.free(cache, b, FREE);
        assert_eq!(machine.core.arena.load(b.get() + 24) == a.get(), plain);
    }
}

macro_rules! misuse {
    ($($module:ident $variant:ident $name:literal $what:literal,)*) => {
        $(mod $variant {
            misuse!(@tests $variant double_free wrong_cache interior_pointer unaligned
                foreign_pointer other_machine overflow_right overflow_left overflow_of_kmalloc write_after_free
                destroy_with_objects use_after_destroy huge_size order_too_large
                a_carved_object_of_a_cache_is_not_for_kfree what_kfree_refuses_is_not_allocated_anew
                correct_use_at_every_level);
        })*
    };
    (@tests $variant:ident $($test:ident)*) => {
        $(#[test] fn $test() { super::$test::<crate::$variant>(); })*
    };
}
#[allow(non_snake_case)]
mod each {
    use super::*;
    for_each_backend!(misuse);
}
