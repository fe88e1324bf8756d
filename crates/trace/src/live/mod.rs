//! What the running kernel's slabs do now: by cache and by call site, again and again.
//!
//! # How it works
//! Levels (objects, bytes, slabs) come from `/proc/slabinfo`, and by line of the source from
//! `/proc/allocinfo` where the kernel has it; both cost next to nothing. What was allocated where comes from [`slices`] of
//! each interval in which the kmem events are on, so that the cost is a share of recording's. How many allocations there
//! are in all is counted by [`counters`] all the time: events slow a load that does little else than allocate to half its
//! speed, so that the rates of the slices would be half of those between them.
//!
//! Measured, CPU time of `perf bench sched messaging` in ratio to that without: counting allocations 1.03, frees too
//! 1.14. So frees are not counted, and take the factor of allocations: both are slowed alike.
//!
//! [`who`] names the program and the owner of what a call site allocates.
//!
//! What grows at each of many looks is pointed out. Of a cache that grows, the call site that allocates most from it is
//! named.

mod counters;
mod slices;
mod who;

use std::collections::VecDeque;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use serde::Serialize;
use slablab_snapshot::{Entry, Kind as TableKind, Paste};

use self::counters::AllocCounters;
use self::slices::{Seen, SeenSite, Slice, Slices};
use crate::Error;
use crate::record::tracefs::Tracefs;

/// Looks that a history goes back.
pub const LIVE_HISTORY: usize = 60;

/// The longest slice: its events have to find room in the ring buffers.
const SLICE_MAX: Duration = Duration::from_millis(300);

/// How soon a wish to stop is heard.
const NAP: Duration = Duration::from_millis(50);

/// Looks at which something has to have grown to be called a possible leak, and the least bytes.
const GROWTH_LOOKS: usize = 10;
const GROWTH_BYTES_MIN: u64 = 64 << 10;

/// Where levels and rates come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LiveOptions {
    /// Share of the time in which the events are on; 0 for never.
    pub traced_share: f64,
    /// Rates are those of this many looks together.
    pub looks: usize,
}

/// What is known of one cache or call site.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LiveRow {
    /// The cache's or call site's name.
    pub name: String,
    /// Of a call site its cache or its line of the source; of a cache that grows on the call site that keeps most of it.
    pub place: String,
    /// Of a call site the program that allocated most there, and its share of the allocations that slices saw.
    pub program: Option<String>,
    /// See `program`.
    pub program_share: Option<f64>,
    /// Of a call site in a function that allocates for others (`kstrdup`), the function that called it most.
    pub owner: Option<String>,
    /// The owner's share of the call stacks that slices saw.
    pub owner_share: Option<f64>,
    /// Objects that are alive.
    pub objects: Option<u64>,
    /// Their bytes.
    pub live_bytes: Option<u64>,
    /// Bytes of the cache's slabs.
    pub slab_bytes: Option<u64>,
    /// Live bytes now less those at the first look.
    pub growth_bytes: Option<i64>,
    /// Allocations a second.
    pub allocs_per_second: Option<f64>,
    /// Frees a second; of a call site, of objects that a slice saw allocated.
    pub frees_per_second: Option<f64>,
    /// Bytes given a second.
    pub bytes_per_second: Option<f64>,
    /// Share of the bytes given that were not requested.
    pub waste_share: Option<f64>,
    /// Whether it grew at every look of the last ten: a possible leak.
    pub grows_on: bool,
    /// Live bytes, or where those are not known allocations a second, at the last looks.
    #[serde(skip)]
    pub history: Vec<f64>,
}

/// What one look showed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveFrame {
    /// Since the first look.
    pub elapsed: Duration,
    /// By cache.
    pub caches: Vec<LiveRow>,
    /// By call site.
    pub sites: Vec<LiveRow>,
    /// Events that were lost in the slices so far.
    pub lost: u64,
    /// Whether all allocations were counted, so that rates are right even where events were lost.
    pub is_counted: bool,
    /// Seconds in which the events were on.
    pub traced: Duration,
}

/// Looks at the running kernel.
#[derive(Debug)]
pub struct Live {
    options: LiveOptions,
    slices: Option<Slices>,
    counters: Option<AllocCounters>,
    has_allocinfo: bool,
    started: Instant,
    last: VecDeque<Look>,
    histories: FxHashMap<(bool, String), History>,
    lost: u64,
    traced: Duration,
}

/// What one look saw of the events.
#[derive(Debug, Default)]
struct Look {
    slice: Slice,
    /// How long the look was, and how many allocations there were in it.
    seconds: f64,
    allocs: Option<u64>,
}

#[derive(Debug, Default)]
struct History {
    first: Option<u64>,
    values: VecDeque<f64>,
}

impl Live {
    /// Finds out what the running kernel tells, and to this user.
    ///
    /// # Errors
    /// If it tells nothing: no slabinfo can be read, and no events be traced.
    pub fn open(options: LiveOptions) -> Result<Live, Error> {
        let reads = |path: &str| std::fs::File::open(path).is_ok();
        let has_levels = reads("/proc/slabinfo");
        let slices = match (options.traced_share > 0.0).then(Slices::open).transpose() {
            Ok(slices) => slices,
            Err(error) if !has_levels => return Err(error),
            Err(error) if !matches!(error, Error::CannotRecord { .. }) => return Err(error),
            Err(_) => None,
        };
        if slices.is_none() && !has_levels {
            return Err(Error::CannotRecord {
                what: "/proc/slabinfo cannot be read".into(),
                remedy: "run it again with sudo".into(),
            });
        }
        let counters = slices.as_ref().and_then(|_| AllocCounters::open(&Tracefs::mounted()?).ok());
        Ok(Live {
            options,
            slices,
            counters,
            has_allocinfo: reads("/proc/allocinfo"),
            started: Instant::now(),
            last: VecDeque::new(),
            histories: FxHashMap::default(),
            lost: 0,
            traced: Duration::ZERO,
        })
    }

    /// Says in a few words where the numbers come from.
    pub fn sources(&self) -> String {
        let levels = if self.has_allocinfo { "slabinfo, allocinfo" } else { "slabinfo" };
        match &self.slices {
            Some(_) => {
                let counts = if self.counters.is_some() { ", perf counts" } else { "" };
                let percent = self.options.traced_share * 100.0;
                format!("{levels}{counts}, events {percent:.0} % of the time")
            }
            None => levels.to_owned(),
        }
    }

    /// Looks for the length of `interval`, or until `stop`; for part of it the events are on.
    ///
    /// # Errors
    /// If the kernel cannot be asked any more.
    pub fn look(
        &mut self,
        interval: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Result<LiveFrame, Error> {
        let start = Instant::now();
        let before = self.allocs();
        let mut look = None;
        if let Some(slices) = &mut self.slices {
            let length = interval.mul_f64(self.options.traced_share).min(SLICE_MAX);
            let slice = slices.take(length)?;
            self.lost += slice.lost;
            self.traced += Duration::from_secs_f64(slice.seconds);
            look = Some(Look { slice, ..Look::default() });
        }
        let end = start + interval;
        while !stop() && Instant::now() < end {
            std::thread::sleep(NAP.min(end.saturating_duration_since(Instant::now())));
        }
        if let Some(mut look) = look {
            look.allocs =
                self.allocs().zip(before).map(|(after, before)| after.saturating_sub(before));
            look.seconds = start.elapsed().as_secs_f64();
            self.last.push_back(look);
            if self.last.len() > self.options.looks {
                self.last.pop_front();
            }
        }
        let (caches, sites) = (self.caches()?, self.sites()?);
        let elapsed = self.started.elapsed();
        let is_counted = self.counters.is_some();
        Ok(LiveFrame { elapsed, caches, sites, lost: self.lost, is_counted, traced: self.traced })
    }

    /// Returns the allocations so far, where they are counted. Counters that fail once are given up.
    fn allocs(&mut self) -> Option<u64> {
        let allocs = self.counters.as_mut()?.read().ok();
        if allocs.is_none() {
            self.counters = None;
        }
        allocs
    }

    fn caches(&mut self) -> Result<Vec<LiveRow>, Error> {
        let mut rows = FxHashMap::default();
        for entry in read("/proc/slabinfo", TableKind::Slabinfo)? {
            let row = LiveRow {
                objects: entry.objects,
                live_bytes: entry.live_bytes(),
                slab_bytes: entry.slab_bytes,
                ..LiveRow::default()
            };
            rows.insert(entry.name.clone(), LiveRow { name: entry.name, ..row });
        }
        let (scale, last) = (scale(&self.last), std::mem::take(&mut self.last));
        let mut seen = FxHashMap::<&str, Seen>::default();
        for (name, of_slice) in last.iter().flat_map(|look| &look.slice.caches) {
            seen.entry(name).or_default().add(of_slice);
        }
        for (name, seen) in seen {
            let new = || LiveRow { name: name.to_owned(), ..LiveRow::default() };
            rows.entry(name.to_owned()).or_insert_with(new).rates(&seen, scale);
        }
        self.last = last;
        let mut rows: Vec<LiveRow> = rows.into_values().collect();
        rows.iter_mut().for_each(|row| self.follow(true, row));
        self.name_growers(&mut rows);
        Ok(rows)
    }

    fn sites(&mut self) -> Result<Vec<LiveRow>, Error> {
        let mut rows = Vec::new();
        if self.has_allocinfo {
            let lines = read("/proc/allocinfo", TableKind::Allocinfo)?.into_iter();
            rows.extend(lines.filter(|line| line.objects != Some(0)).map(|line| LiveRow {
                objects: line.objects,
                live_bytes: line.live_bytes,
                name: line.name,
                place: line.place,
                ..LiveRow::default()
            }));
        }
        let scale = scale(&self.last);
        let mut seen = FxHashMap::<&str, SeenSite>::default();
        for (name, of_slice) in self.last.iter().flat_map(|look| &look.slice.sites) {
            seen.entry(name).or_default().add(of_slice);
        }
        let mut traced: Vec<_> = seen
            .into_iter()
            .map(|(name, site)| {
                let mut row =
                    LiveRow { name: name.into(), place: site.cache, ..LiveRow::default() };
                row.rates(&site.seen, scale);
                let told = |(name, share): (&str, f64)| (Some(name.to_owned()), Some(share));
                (row.program, row.program_share) = site.programs.most().map_or((None, None), told);
                (row.owner, row.owner_share) = site.owners.most().map_or((None, None), told);
                row
            })
            .collect();
        rows.append(&mut traced);
        rows.iter_mut().for_each(|row| self.follow(false, row));
        Ok(rows)
    }

    /// Adds to a row's history, and tells it what that says.
    fn follow(&mut self, is_cache: bool, row: &mut LiveRow) {
        let key = (is_cache, format!("{} {}", row.name, row.place));
        let history = self.histories.entry(key).or_default();
        let value =
            row.live_bytes.map_or(row.allocs_per_second.unwrap_or(0.0), |bytes| bytes as f64);
        history.values.push_back(value);
        if history.values.len() > LIVE_HISTORY {
            history.values.pop_front();
        }
        row.history = history.values.iter().copied().collect();
        let Some(live) = row.live_bytes else { return };
        let first = *history.first.get_or_insert(live);
        row.growth_bytes = Some(live as i64 - first as i64);
        let recent = &row.history[row.history.len().saturating_sub(GROWTH_LOOKS + 1)..];
        row.grows_on = recent.len() > GROWTH_LOOKS
            && recent.windows(2).all(|step| step[1] > step[0])
            && live - first.min(live) >= GROWTH_BYTES_MIN;
    }

    /// Names the call site that allocates most from each cache that grows on.
    fn name_growers(&self, rows: &mut [LiveRow]) {
        for row in rows.iter_mut().filter(|row| row.grows_on) {
            let sites = self.last.iter().flat_map(|look| &look.slice.sites);
            let of_cache = sites.filter(|(_, site)| site.cache == row.name);
            let kept = |seen: &Seen| seen.allocs.saturating_sub(seen.frees);
            let most = of_cache.max_by_key(|(_, site)| kept(&site.seen));
            row.place = most.map(|(site, _)| site.clone()).unwrap_or_default();
        }
    }
}

impl LiveRow {
    fn rates(&mut self, seen: &Seen, scale: Option<f64>) {
        let Some(scale) = scale else { return };
        self.allocs_per_second = Some(seen.allocs as f64 * scale);
        self.frees_per_second = Some(seen.frees as f64 * scale);
        self.bytes_per_second = Some(seen.bytes_alloc as f64 * scale);
        if seen.bytes_alloc > 0 {
            let waste = seen.bytes_alloc.saturating_sub(seen.bytes_req);
            self.waste_share = Some(waste as f64 / seen.bytes_alloc as f64);
        }
    }
}

/// Returns how many a second each event stands for that these looks saw; `None` when no time was seen.
fn scale(looks: &VecDeque<Look>) -> Option<f64> {
    let traced_seconds: f64 = looks.iter().map(|look| look.slice.seconds).sum();
    if traced_seconds <= 0.0 {
        return None;
    }
    let seconds: f64 = looks.iter().map(|look| look.seconds).sum();
    let seen: u64 = looks.iter().map(|look| look.slice.allocs).sum();
    match looks.iter().map(|look| look.allocs).sum::<Option<u64>>() {
        Some(counted) if seen > 0 && seconds > 0.0 => Some(counted as f64 / seen as f64 / seconds),
        _ => Some(1.0 / traced_seconds),
    }
}

/// Reads a table of `/proc`; nothing where this user may not, or the kernel has none.
fn read(path: &str, kind: TableKind) -> Result<Vec<Entry>, Error> {
    let Ok(file) = File::open(path) else { return Ok(Vec::new()) };
    let paste = Paste::read(BufReader::new(file));
    let paste = paste.map_err(|error| Error::io(Path::new(path), "cannot read", error))?;
    let mut tables = paste.tables.into_iter().filter(|table| table.kind == kind);
    Ok(tables.next().and_then(|mut table| table.moments.pop()).map_or(Vec::new(), |m| m.entries))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live() -> Live {
        Live {
            options: LiveOptions { traced_share: 0.0, looks: 4 },
            slices: None,
            counters: None,
            has_allocinfo: false,
            started: Instant::now(),
            last: VecDeque::new(),
            histories: FxHashMap::default(),
            lost: 0,
            traced: Duration::ZERO,
        }
    }

    #[test]
    fn what_grows_at_each_of_ten_looks_is_pointed_out_with_its_site() {
        let mut live = live();
        let seen = |allocs, frees| Seen { allocs, frees, ..Seen::default() };
        let sites = [
            ("leaks", seen(50, 1), "a"),
            ("busy", seen(900, 900), "a"),
            ("other", seen(99, 0), "b"),
        ];
        let sites = sites.map(|(site, seen, cache)| {
            (site.to_owned(), SeenSite { seen, cache: cache.to_owned(), ..SeenSite::default() })
        });
        let slice = Slice { seconds: 0.5, sites: sites.into_iter().collect(), ..Slice::default() };
        live.last.push_back(Look { slice, ..Look::default() });
        let mut at = |look: u64, bytes: u64| {
            let mut row =
                LiveRow { name: "a".into(), live_bytes: Some(look * bytes), ..LiveRow::default() };
            live.follow(true, &mut row);
            let mut rows = [row];
            live.name_growers(&mut rows);
            rows[0].clone()
        };
        assert!((0..10).all(|look| !at(look, 10_000).grows_on));
        let row = at(10, 10_000);
        assert_eq!(
            (row.grows_on, row.place.as_str(), row.growth_bytes),
            (true, "leaks", Some(100_000))
        );
        assert!(!at(10, 10_000).grows_on, "it has stopped");
        let _ = live.sites().unwrap();
    }

    /// Looks of a second in which events were on for half a second.
    fn looks(seen: u64, counted: Option<u64>) -> VecDeque<Look> {
        let slice = Slice { seconds: 0.5, allocs: seen, ..Slice::default() };
        VecDeque::from([Look { slice, seconds: 1.0, allocs: counted }])
    }

    #[test]
    fn rates_are_of_all_allocations_when_tracing_slows_the_load() {
        assert_eq!(scale(&looks(50, Some(200))), Some(4.0));
        assert_eq!(scale(&looks(50, None)), Some(2.0));
        assert_eq!(scale(&looks(0, Some(200))), Some(2.0));
        assert_eq!(scale(&VecDeque::new()), None);
    }

    #[test]
    fn rates_are_by_the_time_that_events_were_on_when_nothing_is_counted() {
        let mut row = LiveRow::default();
        let scale = scale(&looks(50, None));
        row.rates(&Seen { allocs: 50, frees: 25, bytes_req: 300, bytes_alloc: 400 }, scale);
        assert_eq!((row.allocs_per_second, row.frees_per_second), (Some(100.0), Some(50.0)));
        assert_eq!((row.bytes_per_second, row.waste_share), (Some(800.0), Some(0.25)));
    }
}
