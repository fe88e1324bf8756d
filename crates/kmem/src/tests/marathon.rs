//! Eight threads on eight CPUs run a billion operations: too long for every day (`make
//! bench-marathon`).
//!
//! # How it works
//! Objects lie in slots that all threads share. A step allocates one, writes its token into each of
//! its words, and swaps it into a random slot. Then it reads the token from every word of the
//! object that lay there, its own or another thread's, and frees it. `SLABLAB_OPERATIONS` says how
//! many operations each backend does in all.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::backend::for_each_backend;
use crate::tests::conformance::{Random, assert_balanced};
use crate::{Backend, CacheArgs, CacheId, Cpu, CpuId, Gfp, Machine, ObjPtr, Site};

const SITE: Site = Site(1);
const THREADS: u64 = 8;
const SLOTS: usize = 4096;
/// Words of an object of the cache; kmalloc blocks have any other length.
const CACHE_WORDS: u64 = 9;
/// Most words; their number travels in the low bits of a slot's word, which is a multiple of 8.
const WORDS_MAX: u64 = 32;

struct Shared<B: Backend> {
    machine: Machine<B>,
    cache: CacheId,
    /// Offset of the object times 8, and its words less one; 0: none.
    slots: Vec<AtomicU64>,
}

impl<B: Backend> Shared<B> {
    fn alloc(&self, cpu: &Cpu<'_, B>, random: &mut Random) -> u64 {
        let words = 1 + random.below(WORDS_MAX);
        let obj = match words {
            CACHE_WORDS => cpu.alloc(self.cache, Gfp::KERNEL, SITE),
            words => cpu.kmalloc(words * 8, Gfp::KERNEL, SITE),
        };
        let obj = obj.expect("memory for all slots");
        let word = (obj.get() * 8) | (words - 1);
        (0..words).for_each(|i| self.machine.core.arena.store(obj.get() + i * 8, word));
        word
    }

    fn free(&self, cpu: &Cpu<'_, B>, word: u64) {
        let (at, words) = (word / 64 * 8, word % 64 + 1);
        for i in 0..words {
            let found = self.machine.core.arena.load(at + i * 8);
            assert_eq!(found, word, "word {i} of the object at 0x{at:x}");
        }
        let obj = ObjPtr::new(at).expect("never 0");
        // A stale token must not pass for a live one.
        self.machine.core.arena.store(at, !word);
        match words {
            CACHE_WORDS => cpu.free(self.cache, obj, SITE),
            _ => cpu.kfree(obj, SITE),
        }
    }
}

fn run<B: Backend>() {
    let operations = std::env::var("SLABLAB_OPERATIONS").ok().and_then(|n| n.parse().ok());
    let steps = operations.unwrap_or(1_000_000_000_u64) / 2 / THREADS;
    let machine =
        Machine::<B>::builder().cpus(THREADS as u32).memory_bytes(64 << 20).build().unwrap();
    let cache = machine.cache_create(&CacheArgs::new("marathon", CACHE_WORDS as u32 * 8)).unwrap();
    let slots = (0..SLOTS).map(|_| AtomicU64::new(0)).collect();
    let shared = &Shared { machine, cache, slots };
    let start = std::time::Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                let cpu = shared.machine.cpu(CpuId(thread as u32)).unwrap();
                let mut random = Random(0x5eed + thread);
                for _ in 0..steps {
                    let word = shared.alloc(&cpu, &mut random);
                    let slot = &shared.slots[random.below(SLOTS as u64) as usize];
                    let old = slot.swap(word, Ordering::AcqRel);
                    if old != 0 {
                        shared.free(&cpu, old);
                    }
                }
            });
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    let operations = 2 * steps * THREADS;
    std::println!("{}: {operations} operations in {seconds:.0} s", B::KIND);
    assert_balanced(&shared.machine);
    let cpu = shared.machine.cpu(CpuId(0)).unwrap();
    let left = shared.slots.iter().map(|slot| slot.load(Ordering::Relaxed));
    left.filter(|&word| word != 0).for_each(|word| shared.free(&cpu, word));
    assert_balanced(&shared.machine);
    assert_eq!(shared.machine.gauges().live_bytes, 0);
    assert_eq!(shared.machine.findings_count(), 0);
}

macro_rules! marathon {
    ($($module:ident $variant:ident $name:literal $what:literal,)*) => {
        $(#[test] #[ignore = "minutes; make bench-marathon"] fn $variant() { run::<crate::$variant>(); })*
    };
}
#[allow(non_snake_case)]
mod each {
    use super::*;
    for_each_backend!(marathon);
}
