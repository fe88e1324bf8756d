//! Call sites: how much each allocates, and which share of it is tracked.
//!
//! # How it works
//! Programs count every allocation by call site. From the counts of the last look follows what each site does in a second,
//! and with it the share that is tracked: all of a site that allocates little, a power of two less of one that allocates much, so
//! that what is tracked in a second stays within a budget. The busiest sites give way first: what is below the common limit is
//! tracked whole. A leak of one object a second is seen whole beside a million others a second of other sites.
//!
//! Of a site that has to give way, each program has an entry of its own with its own share: a program that leaks one object a
//! second through a site of thousands is seen whole, too. What does not go on is forgotten after [`IDLE_LOOKS`], and programs
//! without room have the share of their site.
//!
//! # Invariants
//! An object keeps the share by which it was chosen, so that what it stands for never changes. An entry that turns busy between
//! two looks halves its own share each time it used up what it was left.

use std::sync::atomic::Ordering;

use rustc_hash::FxHashMap;

use crate::object::{Comm, THRESHOLD_ALL};
use crate::tracer::Tracer;

/// Tracked allocations of a site, on one CPU, until its share is halved: of one that is new, or that allocated little.
pub(crate) const LEFT: u64 = 64;
/// The same of a program at a busy site: there are many of them.
pub(crate) const PROGRAM_LEFT: u64 = 8;
/// A site that is new is tracked whole, until it is known or `LEFT` is used up.
pub(crate) const THRESHOLD_NEW: u64 = THRESHOLD_ALL;
/// The least share: one in 65,536.
const HALVINGS_MAX: u32 = 16;
/// Looks after which the entry of a program that allocated nothing is free for others.
const IDLE_LOOKS: u32 = 30;
/// Entries of a table below which there is room for call sites alone.
const ROOM_FOR_PROGRAMS: usize = 1024;

const COUNT: usize = 1;
const THRESHOLD: usize = 2;
/// Its second half says whether programs have entries of their own.
const LEFT_AT: usize = 3;
const BY_PROGRAM: u64 = 1 << 32;
const WORDS: usize = 4;

/// What a call site, or a program at a busy one, did since the last look.
#[derive(Debug, Clone, Copy, Default)]
struct Site {
    count: u64,
    /// Allocations a second, which falls slowly and rises at once
    per_second: f64,
    /// Looks since it allocated
    idle: u32,
    /// Allocations that one of its tracked objects stands for, and stood for at most
    weight: f64,
    weight_max: f64,
    /// Whether it has to give way, and its programs are to have entries of their own
    is_busy: bool,
}

/// The call sites, and the budget that they share.
#[derive(Debug)]
pub(crate) struct Sites {
    sites: FxHashMap<u64, Site>,
    /// Programs at busy sites, by what the kernel's programs make of both
    programs: FxHashMap<u64, Site>,
    /// Tracked allocations a second of all of them
    budget: f64,
    /// Tracked allocations of a site, on one CPU, until its share is halved
    left: u64,
    allocations: u64,
    /// Allocations at busy sites of programs without an entry
    without_room: u64,
}

impl Sites {
    pub(crate) fn new(budget: f64, left: u64) -> Self {
        let (sites, programs) = (FxHashMap::default(), FxHashMap::default());
        Self { sites, programs, budget, left, allocations: 0, without_room: 0 }
    }

    /// Reads the counts of the `seconds` since the last look, and sets the shares anew.
    pub(crate) fn look(&mut self, tracer: &Tracer, seconds: f64) {
        let words = tracer.sites.words();
        let mut counts: FxHashMap<u64, u64> = FxHashMap::default();
        let entries = tracer.tables.site_bytes() / 8 / WORDS;
        let at = |entry: usize, word: usize| &words[entry * WORDS + word];
        let key = |entry: usize| at(entry, 0).load(Ordering::Relaxed);
        for entry in (0..entries).filter(|entry| key(*entry) != 0) {
            *counts.entry(key(entry)).or_default() += at(entry, COUNT).load(Ordering::Relaxed);
        }
        self.take(&counts, seconds);
        for entry in (0..entries).filter(|entry| key(*entry) != 0) {
            // What was halved between two looks.
            self.note(key(entry), at(entry, THRESHOLD).load(Ordering::Relaxed));
        }
        let shares = self.shares(tracer.tables.sites >= ROOM_FOR_PROGRAMS);
        for entry in (0..entries).filter(|entry| key(*entry) != 0) {
            let Some((threshold, left)) = shares.get(&key(entry)) else {
                // What takes the place writes all of it.
                at(entry, 0).store(0, Ordering::Relaxed);
                continue;
            };
            at(entry, THRESHOLD).store(*threshold, Ordering::Relaxed);
            at(entry, LEFT_AT).store(*left, Ordering::Relaxed);
        }
    }

    /// Notes the threshold that an entry had.
    fn note(&mut self, key: u64, threshold: u64) {
        let all = if is_program(key) { &mut self.programs } else { &mut self.sites };
        if let Some(site) = all.get_mut(&key) {
            site.weight_max = site.weight_max.max(THRESHOLD_ALL as f64 / threshold.max(1) as f64);
        }
    }

    /// Returns how many allocations an object of this program at this call site stood for at most. One without an entry has the
    /// share of its site, where entries had no room.
    pub(crate) fn weight_max(&self, site: u64, program: &Comm) -> f64 {
        let of_site = || self.sites.get(&site).filter(|_| self.without_room > 0);
        let found = self.programs.get(&program_key(site, program)).or_else(of_site);
        found.map_or(1.0, |site| site.weight_max.max(1.0))
    }

    /// Returns how many allocations an object of the program that is followed least stands for now.
    pub(crate) fn heaviest(&self) -> f64 {
        let programs = self.programs.values().filter(|program| program.idle == 0);
        programs.map(|program| program.weight).fold(1.0, f64::max)
    }

    /// Takes over the counts of all entries. A program that went idle is forgotten.
    fn take(&mut self, counts: &FxHashMap<u64, u64>, seconds: f64) {
        let (mut at_busy, mut of_programs) = (0, 0);
        for (key, count) in counts {
            let all = if is_program(*key) { &mut self.programs } else { &mut self.sites };
            let site = all.entry(*key).or_default();
            let new = count - site.count.min(*count);
            let per_second = (new as f64 / seconds.max(1e-3)).max(site.per_second / 2.0);
            match is_program(*key) {
                true => of_programs += new,
                false if site.is_busy => at_busy += new,
                false => {}
            }
            let idle = if new == 0 { site.idle + 1 } else { 0 };
            *site = Site { count: *count, per_second, idle, ..*site };
        }
        self.programs.retain(|_, program| program.idle <= IDLE_LOOKS);
        // The counts are not of one moment.
        let rest = at_busy.saturating_sub(of_programs);
        self.without_room += if rest > at_busy / 100 { rest } else { 0 };
        self.allocations = self.sites.values().map(|site| site.count).sum();
    }

    /// Returns the threshold of each entry, and its tracked allocations until that is halved, with what else is in that word.
    fn shares(&mut self, has_room_for_programs: bool) -> FxHashMap<u64, (u64, u64)> {
        let sum = |sites: &mut dyn Iterator<Item = &Site>| sites.map(|it| it.per_second).sum();
        let divided: f64 = sum(&mut self.sites.values().filter(|site| site.is_busy));
        let of_programs: f64 = sum(&mut self.programs.values());
        // What programs without room allocate has the share of their site.
        let rest = (1.0 - of_programs / divided.max(1.0)).max(0.0);
        let rate = |site: &Site| site.per_second * if site.is_busy { rest } else { 1.0 };
        let rates = self.sites.values().chain(self.programs.values()).map(rate);
        let limit = limit(rates, self.budget);
        let share = |site: &Site| {
            let halvings = halvings(rate(site), limit);
            // What goes on as before stays at its share: only a burst uses up twice as many.
            let tracked = 2.0 * rate(site) / f64::from(1u32 << halvings);
            (THRESHOLD_ALL >> halvings, tracked as u64)
        };
        let mut shares = FxHashMap::default();
        for (key, program) in &mut self.programs {
            let (threshold, tracked) = share(program);
            program.weight = THRESHOLD_ALL as f64 / threshold as f64;
            shares.insert(*key, (threshold, tracked.max(PROGRAM_LEFT)));
        }
        for (key, site) in &mut self.sites {
            let (threshold, tracked) = share(site);
            let left = self.left.max(tracked).min(BY_PROGRAM - 1);
            site.is_busy = halvings(site.per_second, limit) > 0;
            let by_program = if site.is_busy && has_room_for_programs { BY_PROGRAM } else { 0 };
            shares.insert(*key, (threshold, left | by_program));
        }
        shares
    }

    /// Returns the allocations that were counted.
    pub(crate) fn allocations(&self) -> u64 {
        self.allocations
    }

    /// Returns what a site allocates in a second, and all its allocations.
    pub(crate) fn of(&self, site: u64) -> (f64, u64) {
        self.sites.get(&site).map_or((0.0, 0), |site| (site.per_second, site.count))
    }

    /// Returns the allocations at busy sites of programs without an entry: they had the share of their site.
    pub(crate) fn without_room(&self) -> u64 {
        self.without_room
    }

    /// Returns the sites that have been seen.
    pub(crate) fn count(&self) -> usize {
        self.sites.len()
    }
}

/// Returns whether an entry is of a program at a site: addresses of the kernel begin with a bit that is set.
fn is_program(key: u64) -> bool {
    key >> 63 == 0
}

/// Returns the key of a program at a call site, as `kernel/bpf/hunt.bpf` makes it.
fn program_key(site: u64, program: &Comm) -> u64 {
    const ODD: [u64; 2] = [0x61c8_8647, 0x2545_f491];
    let half = |at: usize| {
        u64::from_ne_bytes(program[at..at + 8].try_into().expect("half of sixteen bytes"))
    };
    let name = half(0).wrapping_add(half(8).wrapping_mul(ODD[0])).wrapping_mul(ODD[0]);
    let key = (name ^ (name >> 32)).wrapping_add(site).wrapping_mul(ODD[1]);
    ((key ^ (key >> 32)) << 1 >> 1) | 1
}

/// Returns the budget of a machine: a thousand tracked allocations a second cost 0.2 % of a CPU.
pub(crate) fn budget(cpus: usize) -> f64 {
    const PER_CPU: f64 = 1_000.0;
    PER_CPU * cpus as f64
}

/// Returns by which limit of each the sum of rates comes down to the budget.
fn limit(rates: impl Iterator<Item = f64>, budget: f64) -> f64 {
    let mut rates: Vec<f64> = rates.filter(|rate| *rate > 0.0).collect();
    rates.sort_by(f64::total_cmp);
    let mut left = budget;
    for (at, rate) in rates.iter().enumerate() {
        let share = left / (rates.len() - at) as f64;
        if *rate > share {
            return share;
        }
        left -= rate;
    }
    f64::INFINITY
}

/// Returns how often a site's share is halved, so that it stays within the limit.
fn halvings(per_second: f64, limit: f64) -> u32 {
    let times = (per_second / limit).log2().ceil();
    if times > 0.0 { (times as u32).min(HALVINGS_MAX) } else { 0 }
}

#[cfg(test)]
mod tests {
    use slablab_bpf::{Btf, Shared};

    use super::*;

    #[test]
    fn the_busiest_give_way_and_the_others_are_tracked_whole() {
        let rates = [1.0, 10.0, 100.0, 500_000.0, 1_000_000.0];
        let limit = limit(rates.into_iter(), 2_000.0);
        let tracked: Vec<f64> =
            rates.iter().map(|rate| rate / f64::from(1u32 << halvings(*rate, limit))).collect();
        assert_eq!(tracked[..3], rates[..3]);
        assert!(tracked.iter().sum::<f64>() <= 2_000.0, "{tracked:?}");
        assert!(tracked[4] > 400.0, "{tracked:?}");
    }

    const BUSY: u64 = 0xffff_ffff_8100_0000;

    /// Returns the share of what has an entry after looks that each count so much more, of a budget of 1,000.
    fn shares(looks: usize, more: &[(u64, u64)]) -> (Sites, FxHashMap<u64, (u64, u64)>) {
        let mut sites = Sites::new(1_000.0, LEFT);
        let mut shares = FxHashMap::default();
        for look in 1..=looks as u64 {
            let counts = more.iter().map(|(key, count)| (*key, count * look)).collect();
            sites.take(&counts, 1.0);
            shares = sites.shares(true);
        }
        (sites, shares)
    }

    #[test]
    fn a_program_that_allocates_little_at_a_busy_site_is_tracked_whole() {
        let (quiet, busy) = (7, 9);
        let (sites, shares) = shares(3, &[(BUSY, 100_001), (quiet, 1), (busy, 100_000)]);
        assert_eq!(shares[&BUSY].1 & BY_PROGRAM, BY_PROGRAM);
        assert_eq!((shares[&quiet].0, sites.without_room()), (THRESHOLD_ALL, 0));
        assert!(sites.heaviest() > 90.0, "{}", sites.heaviest());
        let tracked = 100_000.0 * shares[&busy].0 as f64 / THRESHOLD_ALL as f64;
        assert!((400.0..=1_000.0).contains(&tracked), "{tracked}");
    }

    #[test]
    fn programs_without_room_have_a_share_within_the_budget() {
        let (sites, shares) = shares(3, &[(BUSY, 100_000), (7, 50_000)]);
        let tracked = 50_000.0 * shares[&BUSY].0 as f64 / THRESHOLD_ALL as f64;
        assert!((200.0..=1_000.0).contains(&tracked), "{tracked}");
        // Before the second look no site was known to be busy.
        assert_eq!(sites.without_room(), 2 * 50_000);
    }

    #[test]
    fn a_program_that_allocates_no_more_leaves_its_entry() {
        let (mut sites, _) = shares(2, &[(BUSY, 100_000), (7, 5)]);
        for look in 0..=IDLE_LOOKS {
            assert!(sites.shares(true).contains_key(&7), "{look}");
            let counts = [(BUSY, 200_000 + 100_000 * u64::from(look)), (7, 10)];
            sites.take(&counts.into_iter().collect(), 1.0);
        }
        let shares = sites.shares(true);
        assert!(!shares.contains_key(&7) && shares.contains_key(&BUSY));
        assert_eq!(sites.count(), 1);
        assert_eq!(sites.shares(false)[&BUSY].1 & BY_PROGRAM, 0);
    }

    /// Wants root, BPF tracing and types: elsewhere it says so.
    #[test]
    fn the_kernels_programs_and_we_name_a_program_at_a_site_alike() {
        if let Err(error) = Shared::new("probe", 4096).and(Btf::running()) {
            return println!("SKIPPED: {error}");
        }
        let tables = crate::tables::Tables::of(64 << 20, 64);
        let tracer = Tracer::start(tables, THRESHOLD_NEW, [LEFT, PROGRAM_LEFT]).unwrap();
        let mut own: Comm = [0; 16];
        let name = std::fs::read_to_string("/proc/self/comm").unwrap();
        own[..name.trim_end().len()].copy_from_slice(name.trim_end().as_bytes());
        let keys = |tracer: &Tracer| -> Vec<u64> {
            let entries = tracer.sites.words().chunks(WORDS);
            entries.map(|entry| entry[0].load(Ordering::Relaxed)).filter(|key| *key != 0).collect()
        };
        let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
        let is_named = |tracer: &Tracer| {
            let (programs, sites): (Vec<u64>, Vec<u64>) =
                keys(tracer).into_iter().partition(|key| is_program(*key));
            sites.iter().any(|site| programs.contains(&program_key(*site, &own)))
        };
        while !is_named(&tracer) {
            assert!(std::time::Instant::now() < until, "{} entries", keys(&tracer).len());
            // This process allocates at sites whose programs have entries of their own.
            drop(std::io::pipe());
            for entry in tracer.sites.words().chunks(WORDS) {
                if entry[0].load(Ordering::Relaxed) >> 63 == 1 {
                    entry[LEFT_AT].fetch_or(BY_PROGRAM, Ordering::Relaxed);
                }
            }
        }
    }

    #[test]
    fn what_is_within_the_budget_is_tracked_whole() {
        let limit = limit([5.0, 7.0].into_iter(), 100.0);
        assert_eq!((limit, halvings(7.0, limit)), (f64::INFINITY, 0));
        assert_eq!(halvings(0.0, 0.0), 0);
        assert_eq!(halvings(1e12, 1.0), HALVINGS_MAX);
    }
}
