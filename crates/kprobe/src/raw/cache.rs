//! The cache in front of a table: for each thread, 64 sets of 4 probes, replaced in turn.
//!
//! # How it works
//! A thread's cache belongs to one generation of one table. Unregistering begins a new generation, so that
//! every thread empties its cache at its next lookup.
//!
//! A processor cannot predict which of a set's four ways has an address, and finding it out would be most of the
//! work of a hit. So a table of guesses, finer than the sets, says in which entry an address with this hash was
//! last. A hit is: the generation, the guess, the probe's own address. After a wrong guess the lookup checks the
//! four ways and corrects the guess.
//!
//! Addresses that are hit often evict each other if five of them share a set, or two a guess. So when guesses have
//! been wrong for a while, the cache spreads its addresses in another way and starts again. For 64 hot addresses
//! about half of all ways to spread them are suitable, and one is soon found.
//!
//! Of a lookup's 21 ns, 6 go into a lookup in a cache without the probe, and into keeping what the table found. So
//! before addresses are spread in another way, a trial counts 64 lookups. If fewer than a quarter find something,
//! the next lookups go to the table alone, 1024 first and up to 8192 when the next trial fails, too. The guess
//! reads the generation anyway, and a cache on trial or left out has none, so a right guess costs as much as
//! before.
//!
//! # Measured
//! The measurement has 64 hot of 20,000 probes (kernel addresses, Zen 5, section included; bench/xarray). A lookup
//! takes 1.2 to 1.4 ns, 0.90 of the time of the resizing hash (the worst of 16 hot sets: 0.94). Comparing four tags
//! at once (SSE2) and taking the way that matched took 1.15 of it; four conditional moves took 1.4. Those chains of
//! dependent instructions are twice as long, and fill the schedulers. A guess for each set alone ("the way used
//! last") is wrong too often: 2.8.
//!
//! # Invariants
//! - A probe in a cache was in the table during the generation to which the cache belongs, or belongs to no
//!   table and has an address of another set. Caches of generation 0 hold null pointers and are never looked
//!   into.
//! - A generation ends after the probe left the table and before it is handed to reclamation. So a reader
//!   whose section sees the generation unchanged began before the probe may be freed.
//! - A guess names an entry of the set that its addresses belong to.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use slablab_rcu::Guard;

use crate::Probe;

const WAYS: usize = 4;
const SET_BITS: u32 = 6;
const SETS: usize = 1 << SET_BITS;
/// Entries: way `w` of set `s` is number `s * WAYS + w`, which fits a byte.
const ENTRIES: usize = SETS * WAYS;
const _: () = assert!(ENTRIES == u8::MAX as usize + 1);
/// 64 addresses have guesses of their own in six of ten ways to spread them; with 11 bits in four of ten.
const GUESS_BITS: u32 = 12;

/// The first multiplier: the golden ratio in 32 bits.
const MULTIPLIER: u32 = 0x9e37_79b9;
/// Wrong guesses before the first change of the multiplier: one for each entry.
const WRONG_GUESSES_MIN: u32 = 256;
/// Between two changes there are at most this many, because filling the cache again takes up to
/// 256.
const WRONG_GUESSES_MAX: u32 = 1 << 13;
/// Lookups of a trial. A hit saves three times what a useless look costs, which determines how many must find
/// something.
const TRIAL_LOOKUPS: u32 = 64;
const TRIAL_HITS_MIN: u32 = TRIAL_LOOKUPS / 4;
/// Lookups without the cache after the first failed trial, and after many.
const SKIPS_MIN: u32 = 1 << 10;
const SKIPS_MAX: u32 = 1 << 13;

/// Probes that belong to no table. Each stands in the sets that its address does not belong to. Whatever the
/// multiplier, address 0 belongs to set 0, and address 1 to one of the upper half, as multipliers have the
/// highest bit set.
static PLACEHOLDERS: [Probe; 2] = [Probe::placeholder(0), Probe::placeholder(1)];

/// A table's generation, unique among all generations of all tables.
#[derive(Debug)]
pub(crate) struct Generation(AtomicU64);

#[derive(Debug)]
#[repr(C, align(64))]
struct Cache {
    probes: [Cell<*const Probe>; ENTRIES],
    /// The entry of the address last seen, by the upper bits of its hash.
    guesses: [Cell<u8>; 1 << GUESS_BITS],
    /// The low halves of the probes' addresses.
    tags: [Cell<u32>; ENTRIES],
    /// Which way of each set is replaced next.
    turns: [Cell<u8>; SETS],
    /// 0 if the cache belongs to no table, or is on trial.
    generation: Cell<u64>,
    /// The generation of a cache on trial, otherwise 0.
    on_trial: Cell<u64>,
    trial_lookups: Cell<u32>,
    trial_hits: Cell<u32>,
    /// Lookups that leave the cache out, now and after the next failed trial.
    skips_left: Cell<u32>,
    skips_next: Cell<u32>,
    /// Spreads addresses over sets and guesses.
    multiplier: Cell<u32>,
    /// Wrong guesses until the next trial, now and from the next change of the multiplier on.
    wrong_guesses_left: Cell<u32>,
    wrong_guesses_next: Cell<u32>,
}

/// Bytes of one thread's cache.
pub(crate) const BYTES: usize = size_of::<Cache>();

thread_local! {
    static CACHE: Cache = const { Cache::new() };
}

impl Cache {
    const fn new() -> Self {
        Self {
            probes: [const { Cell::new(std::ptr::null()) }; ENTRIES],
            guesses: [const { Cell::new(0) }; 1 << GUESS_BITS],
            tags: [const { Cell::new(0) }; ENTRIES],
            turns: [const { Cell::new(0) }; SETS],
            generation: Cell::new(0),
            on_trial: Cell::new(0),
            trial_lookups: Cell::new(0),
            trial_hits: Cell::new(0),
            skips_left: Cell::new(0),
            skips_next: Cell::new(SKIPS_MIN),
            multiplier: Cell::new(MULTIPLIER),
            wrong_guesses_left: Cell::new(0),
            wrong_guesses_next: Cell::new(WRONG_GUESSES_MIN),
        }
    }

    /// Returns the number of an address's guess. (Addresses that differ only above 32 bits share it.)
    #[inline]
    fn hash(&self, address: u64) -> usize {
        let product = (address as u32).wrapping_mul(self.multiplier.get());
        (product >> (32 - GUESS_BITS)) as usize
    }

    /// Returns the probe in this entry.
    ///
    /// # Safety
    ///
    /// The cache belongs to a generation that had not ended when the section of `'g` began.
    #[inline]
    unsafe fn probe<'g>(&self, entry: usize) -> &'g Probe {
        let probe = self.probes[entry].get();
        // SAFETY: a placeholder, or a probe of this generation, and so in the table when the section began.
        unsafe { &*probe }
    }

    /// Returns the probe at this address from the entry where the guess says it is.
    ///
    /// # Safety
    ///
    /// The contract is that of [`Cache::probe`].
    #[inline]
    unsafe fn guess<'g>(&self, address: u64) -> Option<&'g Probe> {
        let entry = self.guesses[self.hash(address)].get();
        // SAFETY: as the caller promises.
        let probe = unsafe { self.probe(usize::from(entry)) };
        (probe.address() == address).then_some(probe)
    }

    /// Returns the probe at this address, wherever in its set it is.
    ///
    /// # Safety
    ///
    /// The contract is that of [`Cache::probe`].
    #[inline]
    unsafe fn find<'g>(&self, hash: usize, address: u64) -> Option<&'g Probe> {
        let first = first_entry(hash);
        for entry in first..first + WAYS {
            if self.tags[entry].get() != address as u32 {
                continue;
            }
            // SAFETY: as the caller promises.
            let probe = unsafe { self.probe(entry) };
            if probe.address() == address {
                self.guesses[hash].set(entry as u8);
                return Some(probe);
            }
        }
        None
    }

    /// Keeps a probe found in the table, in the place of the one that has been in its set longest.
    #[inline]
    fn keep(&self, hash: usize, address: u64, probe: &Probe) {
        let turn = &self.turns[first_entry(hash) / WAYS];
        let way = usize::from(turn.get()) % WAYS;
        turn.set(way as u8 + 1);
        let entry = first_entry(hash) + way;
        self.tags[entry].set(address as u32);
        self.probes[entry].set(probe);
        self.guesses[hash].set(entry as u8);
    }

    /// Counts a lookup that was not guessed: outside a trial a wrong guess.
    fn count(&self, is_hit: bool) {
        if self.on_trial.get() != 0 {
            self.count_trial(is_hit);
        } else if let Some(left) = self.wrong_guesses_left.get().checked_sub(1) {
            self.wrong_guesses_left.set(left);
        } else {
            self.on_trial.set(self.generation.replace(0));
            self.trial_lookups.set(0);
            self.trial_hits.set(0);
        }
    }

    #[cold]
    fn count_trial(&self, is_hit: bool) {
        self.trial_lookups.set(self.trial_lookups.get() + 1);
        self.trial_hits.set(self.trial_hits.get() + u32::from(is_hit));
        if self.trial_lookups.get() < TRIAL_LOOKUPS {
            return;
        }
        let generation = self.on_trial.replace(0);
        if self.trial_hits.get() < TRIAL_HITS_MIN {
            self.skips_left.set(self.skips_next.get());
            self.skips_next.set((2 * self.skips_next.get()).min(SKIPS_MAX));
            self.change_multiplier();
        } else {
            self.skips_next.set(SKIPS_MIN);
            self.change_multiplier();
            self.generation.set(generation);
        }
    }

    /// Spreads addresses by another multiplier.
    fn change_multiplier(&self) {
        self.multiplier.set(self.multiplier.get().wrapping_mul(MULTIPLIER) | 1 << 31);
        self.empty();
        self.wrong_guesses_left.set(self.wrong_guesses_next.get());
        self.wrong_guesses_next.set((2 * self.wrong_guesses_next.get()).min(WRONG_GUESSES_MAX));
    }

    /// Empties the cache for another table or generation.
    #[cold]
    fn renew(&self, generation: u64) {
        self.empty();
        self.wrong_guesses_left.set(WRONG_GUESSES_MIN);
        self.wrong_guesses_next.set(WRONG_GUESSES_MIN);
        self.generation.set(generation);
        self.on_trial.set(0);
    }

    fn empty(&self) {
        for (hash, guess) in self.guesses.iter().enumerate() {
            guess.set(first_entry(hash) as u8);
        }
        for (entry, probe) in self.probes.iter().enumerate() {
            probe.set(&PLACEHOLDERS[usize::from(entry < WAYS)]);
        }
    }
}

/// Returns the first entry of the set of addresses with this hash.
#[inline]
const fn first_entry(hash: usize) -> usize {
    (hash >> (GUESS_BITS - SET_BITS)) * WAYS
}

impl Generation {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(next_generation()))
    }

    /// Begins a new generation: every cache of this table is empty from now on.
    pub(crate) fn advance(&self) {
        self.0.swap(next_generation(), Ordering::AcqRel);
    }

    /// Returns the probe at this address if this thread's cache has it where the guess says.
    #[inline]
    pub(crate) fn guess<'g>(&self, address: u64, _guard: &'g Guard) -> Option<&'g Probe> {
        let generation = self.0.load(Ordering::Acquire);
        CACHE.with(|cache| {
            if cache.generation.get() != generation {
                return None;
            }
            // SAFETY: the generation goes on, and the guard is a section.
            unsafe { cache.guess(address) }
        })
    }

    /// Returns whether a lookup whose guess was wrong leaves this thread's cache out.
    #[inline]
    pub(crate) fn skips() -> bool {
        CACHE.with(|cache| {
            let left = cache.skips_left.get();
            cache.skips_left.set(left.saturating_sub(1));
            left != 0
        })
    }

    /// Returns the probe at this address: from this thread's cache, or from the table, in which case the
    /// cache keeps it.
    pub(crate) fn find<'g>(
        &self,
        address: u64,
        _guard: &'g Guard,
        load: impl FnOnce() -> Option<&'g Probe>,
    ) -> Option<&'g Probe> {
        let generation = self.0.load(Ordering::Acquire);
        CACHE.with(|cache| {
            if cache.generation.get() != generation && cache.on_trial.get() != generation {
                cache.renew(generation);
            }
            let hash = cache.hash(address);
            // SAFETY: the generation goes on, and the guard is a section.
            let cached = unsafe { cache.find(hash, address) };
            let found = cached.or_else(load);
            if let (None, Some(probe)) = (cached, found) {
                cache.keep(hash, address, probe);
            }
            cache.count(cached.is_some());
            found
        })
    }
}

fn next_generation() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks all of them up, and returns how many were guessed and how many were elsewhere in the cache.
    fn look_up(generation: &Generation, probes: &[Probe]) -> (usize, usize) {
        let guard = slablab_rcu::pin();
        let (mut guessed, mut found) = (0, 0);
        for probe in probes {
            let guess = generation.guess(probe.address(), &guard);
            guessed += usize::from(guess.is_some());
            let mut is_new = false;
            let known = guess.or_else(|| {
                if Generation::skips() {
                    is_new = true;
                    return Some(probe);
                }
                generation.find(probe.address(), &guard, || {
                    is_new = true;
                    Some(probe)
                })
            });
            found += usize::from(guess.is_none() && !is_new);
            assert_eq!(known.map(Probe::address), Some(probe.address()));
        }
        (guessed, found)
    }

    #[test]
    fn a_hot_set_that_met_in_one_place_soon_fits() {
        let generation = Generation::new();
        let set_of = |address: u64| (address as u32).wrapping_mul(MULTIPLIER) >> (32 - SET_BITS);
        let probes: Vec<Probe> =
            (1..).filter(|&i| set_of(i * 16) == 7).take(64).map(|i| Probe::new(i * 16)).collect();
        assert_eq!(look_up(&generation, &probes), (0, 0));
        assert_eq!(
            look_up(&generation, &probes),
            (0, 0),
            "five in a set of four push each other out"
        );
        assert!((0..10_000).any(|_| look_up(&generation, &probes).0 == 64));
        assert_eq!(look_up(&generation, &probes), (64, 0));
        generation.advance();
        assert_eq!(look_up(&generation, &probes), (0, 0), "another generation");
    }

    #[test]
    fn a_wrong_guess_is_put_right() {
        let generation = Generation::new();
        let hash_of = |i: u64| (i as u32).wrapping_mul(MULTIPLIER) >> (32 - GUESS_BITS);
        let probes: Vec<Probe> =
            (1..).filter(|&i| hash_of(i) == 99).take(2).map(Probe::new).collect();
        assert_eq!(look_up(&generation, &probes), (0, 0));
        assert_eq!(look_up(&generation, &probes), (0, 2), "both are in the set");
        assert_eq!(look_up(&generation, &probes[1..]), (1, 0));
    }

    #[test]
    fn a_cache_that_finds_nothing_is_left_out_until_it_would() {
        let generation = Generation::new();
        let probes: Vec<Probe> = (1..=20_000).map(|i| Probe::new(i * 16)).collect();
        let skipped = || CACHE.with(|cache| cache.skips_left.get());
        assert_eq!(look_up(&generation, &probes[..200]), (0, 0));
        assert_eq!(skipped(), 0, "too few lookups for a trial");
        look_up(&generation, &probes[..400]);
        assert!(skipped() > 0, "none of 320 was looked up twice");
        let hot = &probes[..64];
        let lookups = (0..10_000).position(|_| look_up(&generation, hot).0 == 64);
        assert!(lookups.is_some_and(|times| times * 64 >= SKIPS_MIN as usize / 2));
        look_up(&generation, &probes);
        assert!(CACHE.with(|cache| cache.skips_next.get()) > SKIPS_MIN);
    }

    #[test]
    fn a_trial_ends_with_its_generation() {
        let (generation, other, guard) = (Generation::new(), Generation::new(), slablab_rcu::pin());
        let probes: Vec<Probe> = (1..=300).map(|i| Probe::new(i * 16)).collect();
        look_up(&generation, &probes[..270]);
        assert_ne!(CACHE.with(|cache| cache.on_trial.get()), 0);
        let is_cached = |of: &Generation, probe: &Probe| {
            let guess = of.guess(probe.address(), &guard);
            guess.or_else(|| of.find(probe.address(), &guard, || None)).is_some()
        };
        assert!(is_cached(&generation, &probes[269]), "while it goes on");
        assert!(probes.iter().all(|probe| !is_cached(&other, probe)), "another table's");
        assert!(probes.iter().all(|probe| !is_cached(&generation, probe)), "and back");
    }

    #[test]
    fn placeholders_are_not_found() {
        let (generation, guard) = (Generation::new(), slablab_rcu::pin());
        for address in [0, 1, 1 << 32, (1 << 32) + 1, u64::MAX] {
            assert!(generation.find(address, &guard, || None).is_none());
            assert!(generation.guess(address, &guard).is_none());
        }
    }
}
