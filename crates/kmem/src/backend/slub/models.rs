//! Models every interleaving of SLUB's hand-overs between CPUs, in the allocator itself on a small
//! machine.
//!
//! `make test-kmem` runs them, as `RUSTFLAGS="--cfg loom" cargo test -p slablab-kmem --lib --release`. Everything
//! that CPUs share belongs to loom: slab words, locks, page records, the links in free objects. Threads are
//! interrupted twice at most (`LOOM_MAX_PREEMPTIONS` sets another bound).

use alloc::vec::Vec;
use std::collections::{BTreeMap, BTreeSet};

use loom::sync::Arc;
use loom::thread;

use super::state::Slub;
use crate::Gfp;
use crate::backend::ops::{Held, Ops};
use crate::backend::partial::nodes::Node;
use crate::backend::partial::word::State;
use crate::cache::args::{CacheArgs, Tunables};
use crate::cache::kmalloc::KmallocConfig;
use crate::cache::setup::Setup;
use crate::front::cpu::Cpu;
use crate::ids::{CacheId, CpuId, NodeId, ObjPtr, PAGE_SIZE, Site};
use crate::machine::Machine;
use crate::raw::arena::Arena;

const CPUS: u32 = 3;
const PAGES: u64 = 12;
/// Three of them fill a page.
const OBJECT_BYTES: u32 = 1360;
const IN_SLAB: usize = 3;
const SITE: Site = Site(1);

/// A machine with one cache, whose slabs are a page.
struct Small {
    machine: Machine<Slub>,
    cache: CacheId,
}

impl Small {
    /// `cpu_partial` objects may wait on a CPU's partial list; a node keeps `min_partial` empty slabs.
    fn new(cpu_partial: u32, min_partial: u32) -> Arc<Self> {
        let kmalloc =
            KmallocConfig { classes: Vec::new(), types: Vec::new(), ..Default::default() };
        let setup = Setup::of_models(CPUS, PAGES, 1, kmalloc);
        let machine = Machine::boot(setup, Arena::reserve(PAGES * PAGE_SIZE).unwrap()).unwrap();
        let tunables = Tunables::default()
            .with("order", 0)
            .with("cpu_partial", cpu_partial)
            .with("min_partial", min_partial);
        let args = CacheArgs::new("small", OBJECT_BYTES).tunables(tunables);
        let cache = machine.cache_create(&args).unwrap();
        Arc::new(Self { machine, cache })
    }

    fn node(&self) -> &Node {
        self.machine.backend.nodes.get(&self.machine.core, self.machine.slot(self.cache), NodeId(0))
    }

    fn on(&self, cpu: u32) -> Cpu<'_, Slub> {
        self.machine.cpu(CpuId(cpu)).expect("each CPU has one thread")
    }

    fn alloc<const N: usize>(&self, cpu: &Cpu<'_, Slub>) -> [ObjPtr; N] {
        [(); N].map(|()| cpu.alloc(self.cache, Gfp::MEMALLOC, SITE).expect("pages suffice"))
    }

    fn free(&self, cpu: &Cpu<'_, Slub>, objects: impl IntoIterator<Item = ObjPtr>) {
        objects.into_iter().for_each(|object| cpu.free(self.cache, object, SITE));
    }

    fn deactivate(&self, cpu: &Cpu<'_, Slub>) {
        let (slub, cx) = (&self.machine.backend, cpu.cx());
        slub.deactivate(cx, self.machine.slot(self.cache), slub.cpu_slab(cx, self.cache));
    }

    fn drain_partial(&self, cpu: &Cpu<'_, Slub>) {
        let (slub, cx) = (&self.machine.backend, cpu.cx());
        slub.drain_partial(cx, self.machine.slot(self.cache), slub.cpu_slab(cx, self.cache));
    }

    fn count(&self, name: &str) -> u64 {
        self.machine.cache_stats(self.cache).unwrap().paths.get(name)
    }

    /// Checks that `live` are all of the objects given out, each once; that every other object is on one list,
    /// and every slab on one at most; and that a slab is frozen exactly where a CPU has it.
    fn check(&self, live: &[ObjPtr]) {
        let distinct: BTreeSet<_> = live.iter().collect();
        assert_eq!(distinct.len(), live.len(), "an object is given twice: {live:?}");
        let errors = self.machine.validate().errors;
        assert!(errors.is_empty(), "{errors:?}");
        let mut listed = BTreeSet::new();
        let (core, slot) = (&self.machine.core, self.machine.slot(self.cache));
        self.machine.backend.walk(core, slot, &mut |held| {
            if let Held::Slab(slab) = held {
                assert!(listed.insert(slab), "slab {} is on two lists", slab.0);
            }
        });
        let mut of_slab = BTreeMap::new();
        for object in live {
            *of_slab.entry(object.pfn()).or_insert(0) += 1;
        }
        for (slab, live) in of_slab {
            let (page, state) = (core.pages.get(slab), State::load(core.pages.get(slab)));
            assert!(page.is_slab(), "objects are live in slab {}, which was given back", slab.0);
            let full = live == IN_SLAB && !state.frozen();
            assert!(listed.contains(&slab) || full, "slab {} is on no list", slab.0);
        }
    }

    /// Gives everything back, and checks that the last slab went.
    fn close(&self, live: &[ObjPtr]) {
        self.check(live);
        let cpus = [0, 1, 2].map(|cpu| self.on(cpu));
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

/// Runs `work` on another CPU than 0, in a thread of its own.
fn on_cpu<R: 'static>(
    cpu: u32,
    small: &Arc<Small>,
    work: impl FnOnce(&Small, &Cpu<'_, Slub>) -> R + 'static,
) -> thread::JoinHandle<R> {
    let small = Arc::clone(small);
    thread::spawn(move || work(&small, &small.on(cpu)))
}

/// A CPU whose list is empty takes over the slab's own (`get_freelist`), which the other CPU frees into: it gets
/// both objects, or thaws a slab that has none.
#[test]
fn a_cpu_refills_its_list_while_objects_are_freed_remotely() {
    for remote in [1, 2] {
        model(move || {
            let small = Small::new(0, 1);
            let cpu = small.on(0);
            let live = small.alloc::<IN_SLAB>(&cpu);
            let frees = live.into_iter().take(remote);
            let other = on_cpu(1, &small, move |small, cpu| small.free(cpu, frees));
            let mine = small.alloc::<2>(&cpu);
            other.join().unwrap();
            drop(cpu);
            small.close(&[&live[remote..], &mine].concat());
        });
    }
}

/// Does the same with two CPUs that free an object each.
#[test]
fn a_cpu_refills_its_list_while_two_others_free() {
    model(|| {
        let small = Small::new(0, 1);
        let cpu = small.on(0);
        let live = small.alloc::<IN_SLAB>(&cpu);
        let others = [1, 2]
            .map(|n| on_cpu(n, &small, move |small, cpu| small.free(cpu, [live[n as usize]])));
        let mine = small.alloc::<1>(&cpu);
        others.into_iter().for_each(|other| other.join().unwrap());
        drop(cpu);
        small.close(&[&live[..1], &mine].concat());
    });
}

/// Two threads want the same CPU: whoever gets it finds what the previous holder left, and no other
/// thread has it.
#[test]
fn a_claim_hands_over_what_the_cpu_holds() {
    model(|| {
        let small = Small::new(0, 1);
        let work = |small: &Small| {
            let cpu = small.machine.cpu(CpuId(0)).ok();
            cpu.map(|cpu| small.alloc::<1>(&cpu))
        };
        let other = {
            let small = Arc::clone(&small);
            thread::spawn(move || work(&small))
        };
        let mine = work(&small);
        let both = [mine, other.join().unwrap()];
        let live: Vec<_> = both.into_iter().flatten().flatten().collect();
        assert!(!live.is_empty(), "one of them is first");
        small.close(&live);
    });
}

/// A CPU gives its slab up, with one object on its own list and two given out, while those are freed elsewhere.
fn deactivates_against_frees(cpu_partial: u32, min_partial: u32, remote: usize) {
    model(move || {
        let small = Small::new(cpu_partial, min_partial);
        let cpu = small.on(0);
        let live = small.alloc::<2>(&cpu);
        let other =
            on_cpu(1, &small, move |small, cpu| small.free(cpu, live.into_iter().take(remote)));
        small.deactivate(&cpu);
        other.join().unwrap();
        drop(cpu);
        small.close(&live[remote..]);
    });
}

#[test]
fn a_slab_is_deactivated_while_an_object_is_freed_remotely() {
    deactivates_against_frees(0, 0, 1);
}

#[test]
fn a_slab_is_deactivated_while_its_last_objects_are_freed_remotely() {
    deactivates_against_frees(0, 0, 2);
    deactivates_against_frees(0, 1, 2);
}

/// The slab has no free object; its first remote free finds it frozen, or puts it on a list.
#[test]
fn a_full_slab_is_deactivated_while_an_object_is_freed_remotely() {
    for cpu_partial in [0, 3] {
        model(move || {
            let small = Small::new(cpu_partial, 0);
            let cpu = small.on(0);
            let live = small.alloc::<IN_SLAB>(&cpu);
            let other = on_cpu(1, &small, move |small, cpu| small.free(cpu, [live[0]]));
            small.deactivate(&cpu);
            other.join().unwrap();
            drop(cpu);
            small.close(&live[1..]);
        });
    }
}

/// A CPU's partial slabs go to the node while the other CPU frees into one of them.
#[test]
fn partial_slabs_are_drained_while_objects_are_freed_remotely() {
    for (min_partial, remote) in [(0, 1), (0, 2), (1, 2)] {
        model(move || {
            let small = Small::new(3, min_partial);
            let cpu = small.on(0);
            let [a0, a1, a2, b0, b1, b2, c0] = small.alloc(&cpu);
            // Two slabs that were full get their first free object.
            small.free(&cpu, [a0, b0]);
            assert_eq!(small.count("cpu_partial_free"), 2);
            let other = on_cpu(1, &small, move |small, cpu| {
                small.free(cpu, [a1, a2].into_iter().take(remote));
            });
            small.drain_partial(&cpu);
            other.join().unwrap();
            drop(cpu);
            small.close(&[&[a1, a2][remote..], &[b1, b2, c0]].concat());
        });
    }
}

/// Makes `slabs` on the node's list with one free object each; returns the objects given out, in pairs.
fn on_the_node(small: &Small, slabs: usize) -> Vec<[ObjPtr; 2]> {
    let cpu = small.on(0);
    let pairs = (0..slabs).map(|_| {
        let live = small.alloc(&cpu);
        small.deactivate(&cpu);
        live
    });
    // A slab given up with a free object is the first that the next allocation takes, so none is freed before all
    // are made.
    let mut made: Vec<[ObjPtr; IN_SLAB]> = pairs.collect();
    made.iter_mut().for_each(|[first, ..]| small.free(&cpu, [*first]));
    cpu.flush(small.cache);
    assert_eq!(small.node().partial.get() as usize, slabs);
    made.into_iter().map(|[_, second, third]| [second, third]).collect()
}

/// A CPU takes a slab off the node's list while the other CPU frees into that slab.
#[test]
fn a_partial_slab_is_taken_while_objects_are_freed_remotely() {
    for (cpu_partial, min_partial, remote) in [(0, 1, 1), (0, 0, 2), (3, 1, 2)] {
        model(move || {
            let small = Small::new(cpu_partial, 8);
            let pairs = on_the_node(&small, 2);
            small.node().min_partial.set(min_partial);
            let frees = pairs[0];
            let other = on_cpu(1, &small, move |small, cpu| {
                small.free(cpu, frees.into_iter().take(remote));
            });
            let cpu = small.on(0);
            let [mine] = small.alloc(&cpu);
            other.join().unwrap();
            drop(cpu);
            small.close(&[&pairs[0][remote..], &pairs[1], &[mine]].concat());
        });
    }
}

/// Both CPUs take a slab off the node's list, which has either one for each of them or only one.
#[test]
fn partial_slabs_are_taken_by_two_cpus() {
    for (cpu_partial, slabs) in [(0, 1), (0, 2), (3, 2)] {
        model(move || {
            let small = Small::new(cpu_partial, 8);
            let mut live = on_the_node(&small, slabs).concat();
            let other = on_cpu(1, &small, |small, cpu| small.alloc::<1>(cpu));
            let cpu = small.on(0);
            live.extend(small.alloc::<1>(&cpu));
            live.extend(other.join().unwrap());
            drop(cpu);
            small.close(&live);
        });
    }
}
