//! Every interleaving of the hand-overs: the lock, a CPU's claim, and remote frees to a SLUB slab.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p slablab-kmem --test loom --release`. The modules
//! under test are compiled into this file, on loom's atomics; under `--cfg loom` the crate itself
//! is empty.

#![cfg(loom)]
#![allow(dead_code, unused_imports, unused_macros, unreachable_pub)]

extern crate alloc;
extern crate std;

#[path = "../src/error.rs"]
mod error;
#[path = "../src/ids.rs"]
mod ids;

#[path = "../src/raw/mod.rs"]
mod raw;

mod page {
    /// The one field of a page that the state is about.
    pub(crate) struct Page {
        pub(crate) state: crate::raw::sync::AtomicU64,
    }
}

#[path = "../src/backend/slub/word.rs"]
mod state;

use ids::{ObjPtr, Pfn};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use page::Page;
use raw::lock::Lock;
use raw::sync::AtomicBool;
use state::State;

#[test]
fn the_lock_admits_one() {
    loom::model(|| {
        let lock = Arc::new(Lock::new(0));
        let other = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || *lock.lock() += 1)
        };
        *lock.lock() += 1;
        other.join().unwrap();
        assert_eq!(*lock.lock(), 2);
    });
}

#[test]
fn a_claim_hands_over_what_the_cpu_wrote() {
    loom::model(|| {
        // As `Machine::claim` and `Machine::release`; the word is per-CPU state, written relaxed.
        let cpu = Arc::new((AtomicBool::new(false), AtomicU64::new(0)));
        let work = |cpu: &(AtomicBool, AtomicU64)| {
            let claimed =
                cpu.0.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok();
            if claimed {
                let before = cpu.1.load(Ordering::Relaxed);
                cpu.1.store(before + 1, Ordering::Relaxed);
                cpu.0.store(false, Ordering::Release);
            }
            u64::from(claimed)
        };
        let other = {
            let cpu = Arc::clone(&cpu);
            thread::spawn(move || work(&cpu))
        };
        let mine = work(&cpu);
        let all = mine + other.join().unwrap();
        assert_eq!(cpu.1.load(Ordering::Relaxed), all, "no claimed write is lost");
    });
}

const SLAB: Pfn = Pfn(1);

fn object(i: u64) -> ObjPtr {
    ObjPtr::new(SLAB.offset() + i * 64).unwrap()
}

/// Two CPUs free into a third's frozen slab while that takes the slab's list over: every object
/// arrives once, and the counts agree (`__slab_free` against `get_freelist`).
#[test]
fn remote_frees_against_the_owner() {
    loom::model(|| {
        let page = Arc::new(Page { state: AtomicU64::new(0) });
        let links: Arc<[AtomicU64; 2]> = Arc::new([AtomicU64::new(0), AtomicU64::new(0)]);
        State::full(2).freeze().store(&page);
        let frees = [0u64, 1].map(|i| {
            let (page, links) = (Arc::clone(&page), Arc::clone(&links));
            thread::spawn(move || {
                loop {
                    let old = State::load(&page);
                    links[i as usize]
                        .store(old.free(SLAB).map_or(0, ObjPtr::get), Ordering::Relaxed);
                    let new = old.with_inuse(old.inuse() - 1).with_free(SLAB, Some(object(i)));
                    if old.replace(&page, new) {
                        return;
                    }
                }
            })
        });
        let mut got = [0; 2];
        let mut take = || loop {
            let old = State::load(&page);
            let new = old.with_inuse(old.objects()).with_free(SLAB, None);
            if !old.replace(&page, new) {
                continue;
            }
            let mut at = old.free(SLAB);
            while let Some(obj) = at {
                let i = ((obj.get() - SLAB.offset()) / 64) as usize;
                got[i] += 1;
                at = ObjPtr::new(links[i].load(Ordering::Relaxed));
            }
            return;
        };
        take();
        for free in frees {
            free.join().unwrap();
        }
        take();
        assert_eq!(got, [1, 1], "each object comes back once");
        let state = State::load(&page);
        assert_eq!((state.inuse(), state.has_free(), state.frozen()), (2, false, true));
    });
}
