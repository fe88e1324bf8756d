//! One suite for all tables. One line at the end adds a new table to it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use proptest::prelude::*;
use slablab_kprobe::{CachedTree, Error, Hash64, Hash512, HashResizing, Probe, ProbeTable, Tree};
use slablab_rcu::pin;

const TEXT: u64 = 0xffff_ffff_8100_0000;

fn finds_what_is_registered<T: ProbeTable>() {
    let table = T::new();
    for i in 0..5000 {
        table.register(Probe::new(TEXT + i * 33)).expect("memory");
        assert_eq!(table.register(Probe::new(TEXT + i * 33)), Err(Error::Busy(TEXT + i * 33)));
    }
    let guard = pin();
    for i in 0..5000 {
        let address = TEXT + i * 33;
        assert_eq!(table.lookup(address, &guard).map(Probe::address), Some(address));
        assert!(table.lookup(address + 1, &guard).is_none());
        // The second lookup comes from a cache, if there is one.
        assert_eq!(table.lookup(address, &guard).map(Probe::address), Some(address));
    }
    assert_eq!(table.len(), 5000);
    assert!(table.lookup(0, &guard).is_none());
}

fn forgets_what_is_unregistered<T: ProbeTable>() {
    let table = T::new();
    table.register(Probe::new(TEXT)).expect("memory");
    let guard = pin();
    let probe = table.lookup(TEXT, &guard).expect("registered");
    assert!(table.unregister(TEXT));
    assert!(!table.unregister(TEXT));
    assert!(table.lookup(TEXT, &guard).is_none(), "found in a cache?");
    assert_eq!(probe.address(), TEXT, "readers keep what they found");
    table.register(Probe::new(TEXT)).expect("memory");
    assert!(table.lookup(TEXT, &guard).is_some());
}

fn looks_ranges_up<T: ProbeTable>() {
    let table = T::new();
    table.register(Probe::new(TEXT + 100)).expect("memory");
    let guard = pin();
    let near = |address: u64| table.lookup_range(address - 20, address - 1, &guard).is_some();
    assert!(near(TEXT + 101) && near(TEXT + 120));
    assert!(!near(TEXT + 100) && !near(TEXT + 121));
}

fn arms_and_disarms<T: ProbeTable>() {
    let table = T::new();
    table.register(Probe::new(TEXT)).expect("memory");
    let is_enabled = || table.lookup(TEXT, &pin()).is_some_and(Probe::is_enabled);
    assert!(is_enabled());
    assert!(table.disable(TEXT) && !is_enabled());
    assert!(table.enable(TEXT) && is_enabled());
    assert!(!table.enable(TEXT + 1) && !table.disable(TEXT + 1));
    // A disarmed probe counts its misses and runs nothing.
    assert!(table.disable(TEXT));
    let guard = pin();
    let probe = table.lookup(TEXT, &guard).expect("registered");
    probe.hit();
    assert_eq!(probe.missed(), 1);
}

fn two_tables_do_not_mix<T: ProbeTable>() {
    let (a, b) = (T::new(), T::new());
    a.register(Probe::new(TEXT)).expect("memory");
    let guard = pin();
    for _ in 0..3 {
        assert!(a.lookup(TEXT, &guard).is_some());
        assert!(b.lookup(TEXT, &guard).is_none());
    }
}

fn behaves_like_a_map<T: ProbeTable>(ops: Vec<(u8, u64)>) {
    let (table, mut model) = (T::new(), BTreeMap::new());
    for (kind, i) in ops {
        let address = TEXT + i;
        match kind {
            0..5 => {
                let expected =
                    if model.contains_key(&address) { Err(Error::Busy(address)) } else { Ok(()) };
                assert_eq!(table.register(Probe::new(address)), expected);
                model.entry(address).or_insert(true);
            }
            5..8 => assert_eq!(table.unregister(address), model.remove(&address).is_some()),
            8 => {
                assert_eq!(table.disable(address), model.contains_key(&address));
                model.entry(address).and_modify(|is_enabled| *is_enabled = false);
            }
            _ => {
                let found = table.lookup(address, &pin()).map(Probe::is_enabled);
                assert_eq!(found, model.get(&address).copied());
            }
        }
    }
    let mut listed = Vec::new();
    table.for_each(&pin(), &mut |probe| listed.push((probe.address(), probe.is_enabled())));
    assert_eq!(listed, model.into_iter().collect::<Vec<_>>());
}

/// Readers look up while a writer registers and unregisters. A probe that is always there is always found,
/// and a found probe has the wanted address (its memory is not another probe's).
fn readers_are_never_misled<T: ProbeTable + 'static>() {
    let table = T::new();
    let (stop, found) = (AtomicBool::new(false), AtomicU64::new(0));
    for i in 0..64 {
        table.register(Probe::new(TEXT + i * 16)).expect("memory");
    }
    std::thread::scope(|scope| {
        let readers = [0, 1].map(|seed| {
            let (table, stop, found) = (&table, &stop, &found);
            scope.spawn(move || {
                let mut i: u64 = seed;
                while !stop.load(Ordering::Relaxed) {
                    i = i.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                    let address = TEXT + (i >> 40) % 1024;
                    let guard = pin();
                    let probe = table.lookup(address, &guard);
                    assert!(
                        probe.is_some() || !address.is_multiple_of(16),
                        "0x{address:x} is always there"
                    );
                    if let Some(probe) = probe {
                        assert_eq!(probe.address(), address);
                        found.fetch_add(1, Ordering::Relaxed);
                    }
                }
            })
        });
        for round in 0..300 {
            for i in (1..1024).filter(|i| i % 16 != 0) {
                if round % 2 == 0 {
                    table.register(Probe::new(TEXT + i)).expect("memory");
                } else {
                    assert!(table.unregister(TEXT + i));
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| reader.join().expect("no panic"));
    });
    assert!(found.into_inner() > 0);
}

macro_rules! conformance {
    ($($module:ident: $table:ty,)*) => {$(
        mod $module {
            use super::*;

            #[test]
            fn finds_what_is_registered() {
                super::finds_what_is_registered::<$table>();
            }

            #[test]
            fn forgets_what_is_unregistered() {
                super::forgets_what_is_unregistered::<$table>();
            }

            #[test]
            fn looks_ranges_up() {
                super::looks_ranges_up::<$table>();
            }

            #[test]
            fn arms_and_disarms() {
                super::arms_and_disarms::<$table>();
            }

            #[test]
            fn two_tables_do_not_mix() {
                super::two_tables_do_not_mix::<$table>();
            }

            #[test]
            fn readers_are_never_misled() {
                super::readers_are_never_misled::<$table>();
            }

            proptest! {
                #[test]
                fn behaves_like_a_map(ops in prop::collection::vec((0..11_u8, 0..300_u64), 1..600)) {
                    super::behaves_like_a_map::<$table>(ops);
                }
            }
        }
    )*};
}

conformance! {
    hash_64: Hash64,
    hash_512: Hash512,
    hash_resizing: HashResizing,
    tree: Tree,
    cached_tree: CachedTree,
}
