//! The cache in front of a table: for each thread, 64 sets of 4 addresses with their probes.
//!
//! # How it works
//!
//! A thread's cache belongs to one table and one generation of it. Unregistering advances the table's
//! generation, so that every thread empties its cache at its next lookup. The low halves of a set's four
//! addresses are compared at once, and a set is one cache line.
//!
//! # Invariants
//!
//! - A probe in a cache was in the table during the generation that the cache is of.
//! - A generation ends after the probe left the table and before it is handed to reclamation. So a reader
//!   whose section sees the generation unchanged began before the probe may be freed.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use slablab_xarray::Guard;

use crate::Probe;
use crate::table::bucket_of;

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
    probes: [Cell<*const Probe>; WAYS],
    /// Which way is replaced next.
    turn: Cell<u8>,
}

const _: () = assert!(size_of::<Set>() == 64);

impl Set {
    const fn new() -> Self {
        Self {
            tags: [const { Cell::new(0) }; WAYS],
            probes: [const { Cell::new(std::ptr::null()) }; WAYS],
            turn: Cell::new(0),
        }
    }

    /// Returns the first way with this tag.
    #[inline]
    fn way(&self, tag: u32) -> Option<usize> {
        let hits = self.hits(tag);
        (hits != 0).then(|| hits.trailing_zeros() as usize)
    }

    /// Compares all tags at once. (Without SIMD, four comparisons took twice as long as the rest of a hit.)
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
}

#[derive(Debug)]
struct Cache {
    /// 0: of no table.
    generation: Cell<u64>,
    sets: [Set; SETS],
}

/// Bytes of one thread's cache.
pub(crate) const BYTES: usize = size_of::<Cache>();

thread_local! {
    static CACHE: Cache = const { Cache { generation: Cell::new(0), sets: [const { Set::new() }; SETS] } };
}

impl Generation {
    pub(crate) fn new() -> Self {
        static TABLES: AtomicU64 = AtomicU64::new(1);
        Self(AtomicU64::new(TABLES.fetch_add(1, Ordering::Relaxed) * GENERATIONS))
    }

    /// Ends the generation: every cache of this table is empty from now on.
    pub(crate) fn advance(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns the probe at this address, from this thread's cache or else from `find`, which looks into the
    /// table that the generation is of.
    #[inline]
    pub(crate) fn lookup<'g>(
        &self,
        address: u64,
        _guard: &'g Guard,
        find: impl FnOnce() -> Option<&'g Probe>,
    ) -> Option<&'g Probe> {
        let generation = self.0.load(Ordering::Acquire);
        CACHE.with(|cache| {
            if cache.generation.get() != generation {
                cache.empty(generation);
            }
            let set = &cache.sets[bucket_of(address, SET_BITS)];
            if let Some(way) = set.way(address as u32) {
                // SAFETY: null, or of this generation, and so in the table when this section began.
                let probe = unsafe { set.probes[way].get().as_ref() };
                if probe.is_some_and(|probe| probe.address() == address) {
                    return probe;
                }
            }
            set.take(address, find()?)
        })
    }
}

impl Set {
    /// Puts a probe that was found elsewhere in the place of the one that has been here longest.
    fn take<'g>(&self, address: u64, found: &'g Probe) -> Option<&'g Probe> {
        let way = usize::from(self.turn.get());
        self.turn.set(((way + 1) % WAYS) as u8);
        self.tags[way].set(address as u32);
        self.probes[way].set(found);
        Some(found)
    }
}

impl Cache {
    #[cold]
    fn empty(&self, generation: u64) {
        for set in &self.sets {
            set.tags.iter().for_each(|tag| tag.set(0));
            set.probes.iter().for_each(|probe| probe.set(std::ptr::null()));
        }
        self.generation.set(generation);
    }
}
