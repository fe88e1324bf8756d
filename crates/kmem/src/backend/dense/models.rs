//! Models every interleaving of dense's hand-overs between CPUs, in the allocator itself on a small
//! machine.
//!
//! `make test-kmem` runs them, as SLUB's models. Everything that CPUs share belongs to loom: locks, slab words, page
//! records, the links in free objects, magazines. Threads are interrupted twice at most.

use alloc::vec::Vec;
use std::collections::BTreeSet;

use loom::sync::{Arc, Mutex};
use loom::thread;

use super::magazine::Dense;
use crate::Gfp;
use crate::cache::args::CacheArgs;
use crate::cache::kmalloc::KmallocConfig;
use crate::cache::setup::Setup;
use crate::front::cpu::Cpu;
use crate::ids::{CacheId, CpuId, ObjPtr, PAGE_SIZE, Site};
use crate::machine::Machine;
use crate::raw::arena::Arena;

const CPUS: u32 = 2;
const PAGES: u64 = 12;
/// Six of them fill a page, four a magazine.
const OBJECT_BYTES: u32 = 680;
const SITE: Site = Site(1);

/// A machine with one cache, whose slabs are a page.
struct Small {
    machine: Machine<Dense>,
    cache: CacheId,
}

impl Small {
    fn new() -> Arc<Self> {
        Self::with_objects_of(OBJECT_BYTES)
    }

    fn with_objects_of(object_bytes: u32) -> Arc<Self> {
        let kmalloc =
            KmallocConfig { classes: Vec::new(), types: Vec::new(), ..Default::default() };
        let setup = Setup::of_models(CPUS, PAGES, 1, kmalloc);
        let machine = Machine::boot(setup, Arena::reserve(PAGES * PAGE_SIZE).unwrap()).unwrap();
        let cache = machine.cache_create(&CacheArgs::new("small", object_bytes)).unwrap();
        Arc::new(Self { machine, cache })
    }

    fn on(&self, cpu: u32) -> Cpu<'_, Dense> {
        self.machine.cpu(CpuId(cpu)).expect("each CPU has one thread")
    }

    fn alloc<const N: usize>(&self, cpu: &Cpu<'_, Dense>) -> [ObjPtr; N] {
        [(); N].map(|()| cpu.alloc(self.cache, Gfp::MEMALLOC, SITE).expect("pages suffice"))
    }

    fn free(&self, cpu: &Cpu<'_, Dense>, objects: impl IntoIterator<Item = ObjPtr>) {
        objects.into_iter().for_each(|object| cpu.free(self.cache, object, SITE));
    }

    /// Checks that `live` are the objects given out, each once, then that no object given back is lost.
    fn close(&self, live: &[ObjPtr]) {
        let distinct: BTreeSet<_> = live.iter().collect();
        assert_eq!(distinct.len(), live.len(), "an object is given twice: {live:?}");
        let errors = self.machine.validate().errors;
        assert!(errors.is_empty(), "{errors:?}");
        let cpus = [0, 1].map(|cpu| self.on(cpu));
        self.free(&cpus[0], live.iter().copied());
        cpus.iter().for_each(|cpu| cpu.flush(self.cache));
        let slabs = self.machine.core.totals[self.cache.index()].slabs.slabs();
        assert_eq!(slabs, 0, "a slab is lost");
        let errors = self.machine.validate().errors;
        assert!(errors.is_empty(), "{errors:?}");
    }
}

fn model(test: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.max_branches = 100_000;
    model.preemption_bound.get_or_insert(2);
    model.check(test);
}

/// Runs `work` on CPU 1, in a thread of its own.
fn on_other<R: 'static>(
    small: &Arc<Small>,
    work: impl FnOnce(&Small, &Cpu<'_, Dense>) -> R + 'static,
) -> thread::JoinHandle<R> {
    let small = Arc::clone(small);
    thread::spawn(move || work(&small, &small.on(1)))
}

/// With cold magazines, both CPUs free and allocate objects of one slab, the last of them too.
#[test]
fn both_cpus_use_one_slab() {
    for frees in [1, 3] {
        model(move || {
            let small = Small::new();
            let cpu = small.on(0);
            let live = small.alloc::<3>(&cpu);
            let other = on_other(&small, move |small, cpu| {
                small.free(cpu, live.into_iter().take(frees));
            });
            let mine = small.alloc::<1>(&cpu);
            other.join().unwrap();
            drop(cpu);
            small.close(&[&live[frees..], &mine].concat());
        });
    }
}

/// Objects come to a CPU in a batch while the other empties its magazine into the same slabs.
#[test]
fn a_magazine_is_filled_while_another_is_emptied() {
    model(|| {
        let small = Small::new();
        let other = small.on(1);
        let live = small.alloc::<5>(&other);
        small.free(&other, live);
        drop(other);
        let other = on_other(&small, |small, cpu| cpu.flush(small.cache));
        let cpu = small.on(0);
        let mine = small.alloc::<3>(&cpu);
        other.join().unwrap();
        drop(cpu);
        small.close(&mine);
    });
}

/// A new slab that is taken whole is entered without a lock; another CPU frees its object, and the page comes back.
#[test]
fn a_slab_taken_whole_is_freed_by_another_cpu() {
    model(|| {
        let small = Small::with_objects_of(PAGE_SIZE as u32);
        let passed = Arc::new(Mutex::new(None));
        let other = {
            let passed = Arc::clone(&passed);
            on_other(&small, move |small, cpu| {
                let object: Option<ObjPtr> = passed.lock().unwrap().take();
                small.free(cpu, object);
                cpu.flush(small.cache);
            })
        };
        let cpu = small.on(0);
        let [object] = small.alloc::<1>(&cpu);
        *passed.lock().unwrap() = Some(object);
        let mine = small.alloc::<1>(&cpu);
        other.join().unwrap();
        drop(cpu);
        let left = passed.lock().unwrap().take();
        small.close(&mine.into_iter().chain(left).collect::<Vec<_>>());
    });
}

/// A CPU's handle passes to another thread with what is in its magazines.
#[test]
fn a_claim_hands_over_the_magazine() {
    model(|| {
        let small = Small::new();
        {
            let cpu = small.on(0);
            let live = small.alloc::<4>(&cpu);
            small.free(&cpu, live);
        }
        let work = |small: &Small| {
            let cpu = small.machine.cpu(CpuId(0)).ok();
            cpu.map(|cpu| small.alloc::<1>(&cpu))
        };
        let other = {
            let small = Arc::clone(&small);
            thread::spawn(move || work(&small))
        };
        let both = [work(&small), other.join().unwrap()];
        let live: Vec<_> = both.into_iter().flatten().flatten().collect();
        assert!(!live.is_empty(), "one of them is first");
        small.close(&live);
    });
}
