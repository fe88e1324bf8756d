//! Models every interleaving of hand-overs between CPUs: full and empty sheaves through the barn, objects to and from
//! slabs.
//!
//! They run as those of SLUB do (`slub/models.rs`).

use alloc::vec::Vec;
use std::collections::BTreeSet;

use loom::sync::Arc;
use loom::thread;

use super::SlubSheaves;
use crate::Gfp;
use crate::cache::args::{CacheArgs, Tunables};
use crate::cache::kmalloc::KmallocConfig;
use crate::cache::setup::Setup;
use crate::front::cpu::Cpu;
use crate::ids::{CacheId, CpuId, ObjPtr, PAGE_SIZE, Site};
use crate::machine::Machine;
use crate::raw::arena::Arena;

const CPUS: u32 = 2;
const SITE: Site = Site(1);

/// A machine with one cache whose slabs are a page, and one kmalloc cache for its sheaves.
struct Small {
    machine: Machine<SlubSheaves>,
    cache: CacheId,
}

impl Small {
    /// Makes a machine with objects of `bytes`: 4096 for one in a slab and four in a sheaf, 1360
    /// for three and twelve.
    fn new(bytes: u32) -> Arc<Self> {
        let sheaf_bytes = if bytes == 4096 { 64 } else { 128 };
        let kmalloc = KmallocConfig {
            classes: Vec::from([sheaf_bytes]),
            types: Vec::new(),
            ..Default::default()
        };
        let pages = 48;
        let setup = Setup::of_models(CPUS, pages, 2, kmalloc);
        let machine = Machine::boot(setup, Arena::reserve(pages * PAGE_SIZE).unwrap()).unwrap();
        let args =
            CacheArgs::new("small", bytes).tunables(Tunables::default().with("min_partial", 0));
        let cache = machine.cache_create(&args).unwrap();
        Arc::new(Self { machine, cache })
    }

    fn on(&self, cpu: u32) -> Cpu<'_, SlubSheaves> {
        self.machine.cpu(CpuId(cpu)).expect("each CPU has one thread")
    }

    fn alloc(&self, cpu: &Cpu<'_, SlubSheaves>, count: usize) -> Vec<ObjPtr> {
        let one = || cpu.alloc(self.cache, Gfp::MEMALLOC, SITE).expect("pages suffice");
        (0..count).map(|_| one()).collect()
    }

    fn free(&self, cpu: &Cpu<'_, SlubSheaves>, objects: impl IntoIterator<Item = ObjPtr>) {
        objects.into_iter().for_each(|object| cpu.free(self.cache, object, SITE));
    }

    fn check(&self, live: &[ObjPtr]) {
        let distinct: BTreeSet<_> = live.iter().collect();
        assert_eq!(distinct.len(), live.len(), "an object is given twice: {live:?}");
        let errors = self.machine.validate().errors;
        assert!(errors.is_empty(), "{errors:?}");
    }

    /// Gives everything back, and checks that the last slab went.
    fn close(&self, live: &[ObjPtr]) {
        self.check(live);
        let cpus = [0, 1].map(|cpu| self.on(cpu));
        self.free(&cpus[0], live.iter().copied());
        cpus.iter().for_each(|cpu| cpu.flush(self.cache));
        cpus[0].shrink(self.cache);
        let slabs = self.machine.core.totals[self.cache.index()].slabs.slabs();
        assert_eq!(slabs, 0, "a slab is lost");
        self.check(&[]);
    }
}

fn model(test: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.max_branches = 100_000;
    model.preemption_bound.get_or_insert(2);
    model.check(test);
}

/// Runs `work` on CPU 1 in a thread of its own, and `here` on CPU 0.
fn on_both<R: 'static, Q>(
    small: &Arc<Small>,
    work: impl FnOnce(&Small, &Cpu<'_, SlubSheaves>) -> R + 'static,
    here: impl FnOnce(&Small, &Cpu<'_, SlubSheaves>) -> Q,
) -> (Q, R) {
    let other = {
        let small = Arc::clone(small);
        thread::spawn(move || work(&small, &small.on(1)))
    };
    let mine = here(small, &small.on(0));
    (mine, other.join().unwrap())
}

/// CPU 0 fills main and spare, and its next free puts a full sheaf into the barn for an empty one. Meanwhile CPU 1, whose
/// main sheaf is empty, trades it for a full one of the barn or takes objects from slabs.
#[test]
fn a_full_sheaf_goes_through_the_barn_while_another_cpu_wants_one() {
    model(|| {
        let small = Small::new(4096);
        let mut live = small.alloc(&small.on(0), 9);
        small.alloc(&small.on(1), 4).into_iter().for_each(|object| live.push(object));
        let spares: Vec<_> = live.drain(..9).collect();
        let (_, theirs) = on_both(
            &small,
            |small, cpu| small.alloc(cpu, 1),
            move |small, cpu| small.free(cpu, spares),
        );
        live.extend(theirs);
        small.close(&live);
    });
}

/// Both CPUs want the one full sheaf that is in the barn.
#[test]
fn one_full_sheaf_is_wanted_by_two_cpus() {
    model(|| {
        let small = Small::new(4096);
        let all = small.alloc(&small.on(0), 12);
        small.free(&small.on(0), all);
        // Main and spare of CPU 0 are full, and one sheaf is in the barn; CPU 0 uses its own up first.
        let mut live = small.alloc(&small.on(0), 8);
        let take = |small: &Small, cpu: &Cpu<'_, SlubSheaves>| small.alloc(cpu, 1);
        let (mine, theirs) = on_both(&small, take, take);
        live.extend(mine.into_iter().chain(theirs));
        small.close(&live);
    });
}

/// CPU 0 fills a sheaf from partial slabs while CPU 1 flushes objects of the same slabs back to them.
#[test]
fn a_sheaf_is_filled_while_objects_are_given_back_to_the_same_slabs() {
    model(|| {
        let small = Small::new(1360);
        let live = {
            let cpu = small.on(1);
            let mut all = small.alloc(&cpu, 6);
            cpu.flush(small.cache);
            // Two slabs with one object in use and one with two are left, and CPU 1 has two of them in a sheaf.
            let kept = all.split_off(2);
            small.free(&cpu, all);
            kept
        };
        let (mine, ()) =
            on_both(&small, |small, cpu| cpu.flush(small.cache), |small, cpu| small.alloc(cpu, 1));
        small.close(&[live, mine].concat());
    });
}
