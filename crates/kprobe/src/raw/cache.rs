//! The cache in front of a table: for each thread, 64 sets of 4 addresses with their probes.
//!
//! # How it works
//!
//! A thread's cache belongs to one table and one generation of it. Unregistering advances the table's
//! generation, so that every thread empties its cache at its next lookup. All four addresses of a set are
//! compared without branches, and a set is one cache line: a hit takes as long as one load or two.
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

/// Four addresses and their probes: one cache line.
#[derive(Debug)]
#[repr(align(64))]
struct Set {
    addresses: [Cell<u64>; WAYS],
    probes: [Cell<*const Probe>; WAYS],
}

#[derive(Debug)]
struct Cache {
    /// 0: of no table.
    generation: Cell<u64>,
    sets: [Set; SETS],
    /// Which way of each set is replaced next.
    turns: [Cell<u8>; SETS],
}

/// Bytes of one thread's cache.
pub(crate) const BYTES: usize = size_of::<Cache>();

thread_local! {
    static CACHE: Cache = const {
        Cache {
            generation: Cell::new(0),
            sets: [const {
                Set {
                    addresses: [const { Cell::new(0) }; WAYS],
                    probes: [const { Cell::new(std::ptr::null()) }; WAYS],
                }
            }; SETS],
            turns: [const { Cell::new(0) }; SETS],
        }
    };
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
            let number = bucket_of(address, SET_BITS);
            let set = &cache.sets[number];
            let hits = (0..WAYS).fold(0_u32, |hits, way| {
                hits | u32::from(set.addresses[way].get() == address) << way
            });
            let probe = set.probes[(hits | 1 << (WAYS - 1)).trailing_zeros() as usize].get();
            if hits != 0 {
                // SAFETY: of this generation, so in the table when this section began; or null, at address 0.
                return unsafe { probe.as_ref() };
            }
            let found = find()?;
            let way = cache.turns[number].get();
            cache.turns[number].set((way + 1) % WAYS as u8);
            set.addresses[usize::from(way)].set(address);
            set.probes[usize::from(way)].set(found);
            Some(found)
        })
    }
}

impl Cache {
    #[cold]
    fn empty(&self, generation: u64) {
        for set in &self.sets {
            set.addresses.iter().for_each(|address| address.set(0));
            set.probes.iter().for_each(|probe| probe.set(std::ptr::null()));
        }
        self.generation.set(generation);
    }
}
