//! The cache in front of a table: for each thread, 64 sets of 4 addresses with their probes.
//!
//! # How it works
//!
//! A thread's cache belongs to one table and one generation of it. Unregistering advances the table's
//! generation, so that every thread empties its cache at its next lookup. A set is one cache line, and the low
//! halves of its four addresses are compared at once: which way is hit cannot be foretold. (Four conditional
//! moves instead take six more loads, and made a loop of hits 0.4 ns longer.)
//!
//! Of 64 addresses that are hit often, one time in four five or more belong to one set and push each other out.
//! So when misses have gone on for a while, the cache spreads its addresses in another way and starts again, and
//! then waits twice as long: a hot set that can fit soon does, and one that cannot costs next to nothing more.
//!
//! # Invariants
//!
//! - A probe in a cache was in the table during the generation that the cache is of, or is of no table and has
//!   an address of another set. Caches of generation 0 hold null pointers and are never looked into.
//! - A generation ends after the probe left the table and before it is handed to reclamation. So a reader
//!   whose section sees the generation unchanged began before the probe may be freed.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use slablab_xarray::Guard;

use crate::Probe;

const WAYS: usize = 4;
const SET_BITS: u32 = 6;
const SETS: usize = 1 << SET_BITS;

/// A table's generation, unique among all tables: the upper bits number the tables.
#[derive(Debug)]
pub(crate) struct Generation(AtomicU64);

/// Tables may each go through this many generations.
const GENERATIONS: u64 = 1 << 40;

/// Four addresses' low halves and their probes: one cache line. The probe itself tells its whole address.
#[derive(Debug)]
#[repr(C, align(64))]
struct Set {
    tags: [Cell<u32>; WAYS],
    /// One more than there are ways: a probe for addresses that are in none, whose own address is never asked
    /// of this set. So a lookup compares one address, whether it hits or not.
    probes: [Cell<*const Probe>; WAYS + 1],
    /// Which way is replaced next.
    turn: Cell<u8>,
}

const _: () = assert!(size_of::<Set>() == 64);

/// Probes of no table. Each stands in the sets that its address does not belong to: whatever the multiplier,
/// address 0 belongs to set 0, and address 1 to one of the upper half, as multipliers have the highest bit set.
static NOBODY: [Probe; 2] = [Probe::nobody(0), Probe::nobody(1)];

/// The first multiplier: the golden ratio in 32 bits.
const MULTIPLIER: u32 = 0x9e37_79b9;
/// Misses before the first change of the multiplier: 4 for each way.
const PATIENCE_MIN: u32 = 1024;
const PATIENCE_MAX: u32 = 1 << 20;

impl Set {
    const fn new() -> Self {
        Self {
            tags: [const { Cell::new(0) }; WAYS],
            probes: [const { Cell::new(std::ptr::null()) }; WAYS + 1],
            turn: Cell::new(0),
        }
    }

    /// Returns the number of the first way with this tag, or of the one behind the last.
    #[inline]
    fn way(&self, tag: u32) -> usize {
        (self.hits(tag) | 1 << WAYS).trailing_zeros() as usize
    }

    /// Compares all tags at once.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn hits(&self, tag: u32) -> u32 {
        // SAFETY: every x86-64 has SSE2.
        unsafe { self.hits_sse2(tag) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "sse2")]
    fn hits_sse2(&self, tag: u32) -> u32 {
        use std::arch::x86_64::{
            _mm_castsi128_ps, _mm_cmpeq_epi32, _mm_load_si128, _mm_movemask_ps, _mm_set1_epi32,
        };
        // SAFETY: 16 bytes, aligned as the set is, and this thread's own.
        let tags = unsafe { _mm_load_si128(self.tags.as_ptr().cast()) };
        let equal = _mm_cmpeq_epi32(tags, _mm_set1_epi32(tag.cast_signed()));
        _mm_movemask_ps(_mm_castsi128_ps(equal)).cast_unsigned()
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[inline]
    fn hits(&self, tag: u32) -> u32 {
        (0..WAYS).fold(0, |hits, way| hits | u32::from(self.tags[way].get() == tag) << way)
    }

    /// Puts a probe in the place of the one that has been here longest.
    #[inline]
    fn put(&self, probe: &Probe) {
        let way = usize::from(self.turn.get()) % WAYS;
        self.turn.set(way as u8 + 1);
        self.tags[way].set(probe.address() as u32);
        self.probes[way].set(probe);
    }
}

#[derive(Debug)]
struct Cache {
    /// 0: of no table.
    generation: Cell<u64>,
    /// Spreads addresses over sets.
    multiplier: Cell<u32>,
    /// Misses until the multiplier changes, now and from its next change on.
    patience: Cell<u32>,
    patience_next: Cell<u32>,
    sets: [Set; SETS],
}

/// Bytes of one thread's cache.
pub(crate) const BYTES: usize = size_of::<Cache>();

thread_local! {
    static CACHE: Cache = const { Cache::new() };
}

impl Cache {
    const fn new() -> Self {
        Self {
            generation: Cell::new(0),
            multiplier: Cell::new(MULTIPLIER),
            patience: Cell::new(0),
            patience_next: Cell::new(PATIENCE_MIN),
            sets: [const { Set::new() }; SETS],
        }
    }

    /// Returns the set that an address belongs to. (Addresses that differ only above 32 bits share one.)
    #[inline]
    fn set(&self, address: u64) -> &Set {
        let product = (address as u32).wrapping_mul(self.multiplier.get());
        &self.sets[(product >> (32 - SET_BITS)) as usize]
    }

    /// Keeps a probe that the table was asked for.
    #[inline]
    fn keep(&self, probe: &Probe) {
        self.set(probe.address()).put(probe);
        match self.patience.get().checked_sub(1) {
            Some(patience) => self.patience.set(patience),
            None => self.spread_anew(),
        }
    }

    /// Empties the cache for another table or generation. (Not inlined: a hit needs the registers.)
    #[cold]
    #[inline(never)]
    fn renew(&self, generation: u64) {
        self.empty();
        self.patience.set(PATIENCE_MIN);
        self.patience_next.set(PATIENCE_MIN);
        self.generation.set(generation);
    }

    /// Spreads addresses over sets by another multiplier.
    #[cold]
    #[inline(never)]
    fn spread_anew(&self) {
        self.multiplier.set(self.multiplier.get().wrapping_mul(MULTIPLIER) | 1 << 31);
        self.empty();
        self.patience.set(self.patience_next.get());
        self.patience_next.set((2 * self.patience_next.get()).min(PATIENCE_MAX));
    }

    fn empty(&self) {
        for (number, set) in self.sets.iter().enumerate() {
            let nobody = &NOBODY[usize::from(number == 0)];
            set.probes.iter().for_each(|probe| probe.set(nobody));
        }
    }
}

impl Generation {
    pub(crate) fn new() -> Self {
        static TABLES: AtomicU64 = AtomicU64::new(1);
        let number = TABLES.fetch_add(1, Ordering::Relaxed);
        Self(AtomicU64::new(number.checked_mul(GENERATIONS).expect("at most 16 million tables")))
    }

    /// Ends the generation: every cache of this table is empty from now on.
    pub(crate) fn advance(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns the probe at this address if this thread's cache has it.
    #[inline]
    pub(crate) fn cached<'g>(&self, address: u64, _guard: &'g Guard) -> Result<&'g Probe, Miss> {
        let generation = self.0.load(Ordering::Acquire);
        CACHE.with(|cache| {
            if cache.generation.get() != generation {
                cache.renew(generation);
            }
            let set = cache.set(address);
            let probe = set.probes[set.way(address as u32)].get();
            // SAFETY: nobody, or a probe of this generation, and so in the table when this section began.
            let probe = unsafe { &*probe };
            if probe.address() == address { Ok(probe) } else { Err(Miss { generation }) }
        })
    }
}

/// A generation in which a probe was not in the cache.
#[derive(Debug)]
pub(crate) struct Miss {
    generation: u64,
}

impl Miss {
    /// Keeps the probe that the table was asked for after the miss.
    #[inline]
    pub(crate) fn keep(self, found: &Probe) {
        CACHE.with(|cache| {
            if cache.generation.get() == self.generation {
                cache.keep(found);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hot_set_that_met_in_one_place_soon_fits() {
        let (generation, guard) = (Generation::new(), slablab_xarray::pin());
        let set_of = |address: u64| (address as u32).wrapping_mul(MULTIPLIER) >> (32 - SET_BITS);
        let probes: Vec<Probe> =
            (1..).filter(|&i| set_of(i * 16) == 7).take(64).map(|i| Probe::new(i * 16)).collect();
        let misses = || -> usize {
            let miss_of = |probe: &&Probe| match generation.cached(probe.address(), &guard) {
                Ok(found) => {
                    assert_eq!(found.address(), probe.address());
                    false
                }
                Err(miss) => {
                    miss.keep(probe);
                    true
                }
            };
            probes.iter().filter(miss_of).count()
        };
        assert_eq!((misses(), misses()), (64, 64), "five in a set of four push each other out");
        assert!((0..10_000).any(|_| misses() == 0));
        assert_eq!(misses(), 0);
        generation.advance();
        assert_eq!(misses(), 64, "another generation");
    }
}
