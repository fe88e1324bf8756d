//! The selected part of a trace: by time, CPU, thread, cache or call site of the allocations.
//!
//! An object is kept from its allocation to its free, wherever that is freed, so that nothing seems to leak or to come
//! from nowhere; only at the borders of `--time` are objects cut, as they are at those of the trace.

use std::path::Path;

use anyhow::{Context, Result, bail};
use rustc_hash::FxHashSet;
use slablab_host::Pattern;
use slablab_linux::{KmallocCache, KmallocType, function_of};
use slablab_replay::{nearest_name, select_sites};
use slablab_trace::{CgroupCursor, Event, Meta, RecordedCache, TraceReader};

use crate::progress::Progress;
use crate::say::say;

/// The options of a part have a heading of their own; those that a command has beside them do not fall under it.
const HEADING: &str = "Part of the trace";

/// What is kept; everything when nothing is named.
#[derive(clap::Args, Debug, Default, Clone)]
pub(crate) struct FilterArgs {
    /// Only this time, in seconds or percent (1.5,3 or 10%,)
    #[arg(long, value_name = "FROM,TO", value_parser = parse_time, help_heading = HEADING)]
    time: Option<Time>,
    /// Only what is allocated on these CPUs (0,2-3)
    #[arg(long, value_name = "LIST", value_parser = parse_list, help_heading = HEADING)]
    cpu: Option<Numbers>,
    /// Only what these threads allocate
    #[arg(long, value_name = "LIST", value_parser = parse_list, help_heading = HEADING)]
    pid: Option<Numbers>,
    /// Only what threads of these names allocate (kworker*)
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = parse_name, help_heading = HEADING)]
    comm: Vec<String>,
    /// Only what these memory cgroups allocate (/job)
    #[arg(long, value_name = "PATH,...", value_delimiter = ',', value_parser = parse_name, help_heading = HEADING)]
    cgroup: Vec<String>,
    /// Only objects of these caches (kmalloc-64, ext4_*)
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = parse_name, help_heading = HEADING)]
    cache: Vec<String>,
    /// Only objects of these call sites (kstrdup, ext4_*)
    #[arg(long, value_name = "SITE,...", value_delimiter = ',', value_parser = parse_name, help_heading = HEADING)]
    site: Vec<String>,
    /// Only what these functions led to, by its call stack
    #[arg(long, value_name = "F,...", value_delimiter = ',', value_parser = parse_name, help_heading = HEADING)]
    callers: Vec<String>,
}

/// A moment of a trace.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Moment {
    Seconds(f64),
    Percent(f64),
}

/// A span of a trace.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Time {
    from: Option<Moment>,
    to: Option<Moment>,
}

/// Numbers of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Numbers(Vec<(u32, u32)>);

impl FilterArgs {
    /// Returns whether everything is kept.
    pub(crate) fn is_empty(&self) -> bool {
        self.time.is_none()
            && self.cpu.is_none()
            && self.pid.is_none()
            && [&self.comm, &self.cgroup, &self.cache, &self.site, &self.callers]
                .into_iter()
                .all(Vec::is_empty)
    }

    /// Returns whether objects of a slab are left out while others of it are kept.
    pub(crate) fn divides_slabs(&self) -> bool {
        self.time.is_some()
            || self.cpu.is_some()
            || self.pid.is_some()
            || [&self.comm, &self.cgroup, &self.site, &self.callers]
                .into_iter()
                .any(|names| !names.is_empty())
    }

    /// Returns the part of `trace`, which was read from `path`.
    pub(crate) fn apply(&self, trace: TraceReader, path: &Path) -> Result<TraceReader> {
        if self.is_empty() {
            return Ok(trace);
        }
        let mut keep = self.of_trace(trace.meta()).with_context(|| path.display().to_string())?;
        let mut progress = Progress::default();
        let part = slablab_trace::keep(&trace, &mut keep, &mut |step| progress.step(step))?;
        Ok(part)
    }

    /// Says what a replay of a part cannot begin with.
    pub(crate) fn tell_of_replays(&self, meta: &Meta, path: &Path) {
        if !self.is_empty() && !meta.samples.is_empty() {
            say(format_args!(
                "slablab: {}: what the kernel's slabs held was recorded of the whole machine, and is left out of a part: \
                 a replay of it begins with empty slabs",
                path.display()
            ));
        }
    }

    /// Returns what decides about an allocation, and about a free of an object that is older than the trace.
    fn of_trace<'a>(&self, meta: &'a Meta) -> Result<impl FnMut(&Event) -> bool + use<'a>> {
        let time = self.time.map(|time| time.of_trace(meta));
        let (cpus, mut pids) = (self.cpu.clone(), self.pid.clone());
        if !self.comm.is_empty() {
            if meta.comms.is_empty() {
                bail!("does not say what its threads are called; name them by --pid");
            }
            let called = meta.comms.iter().filter(|(_, comm)| any_matches(&self.comm, comm));
            let called: Vec<_> = called.map(|(pid, _)| (*pid, *pid)).collect();
            if called.is_empty() {
                bail!(
                    "no thread is called {}: a thread is known by its last name, not by one that it had before an exec",
                    self.comm.join(" or ")
                );
            }
            pids.get_or_insert_with(|| Numbers(Vec::new())).0.extend(called);
        }
        let mut sites = (!self.site.is_empty()).then(FxHashSet::default);
        for pattern in &self.site {
            sites.iter_mut().try_for_each(|sites| {
                sites.extend(select_sites(meta, pattern)?);
                anyhow::Ok(())
            })?;
        }
        let stacks = self.stacks(meta)?;
        let mut cgroups = self.cgroups(meta)?;
        self.refuse_unknown_caches(meta)?;
        let patterns = self.cache.clone();
        let of_cache = |id: usize| names_of(&meta.caches[id]).any(|name| is_cache(&patterns, name));
        let caches: Vec<bool> = (0..meta.caches.len()).map(of_cache).collect();
        let classes = move |bytes: u64| is_cache(&patterns, &class_name(bytes));
        let by_cache = !self.cache.is_empty();
        Ok(move |event: &Event| {
            let has = |numbers: &Option<Numbers>, number| {
                numbers.as_ref().is_none_or(|numbers| numbers.contain(number))
            };
            time.is_none_or(|(from, to)| (from..=to).contains(&event.time_ns))
                && has(&cpus, u32::from(event.cpu))
                && has(&pids, event.pid)
                && cgroups.as_mut().is_none_or(|cgroups| cgroups.has(event.time_ns, event.pid))
                && sites
                    .as_ref()
                    .is_none_or(|sites| event.kind.is_alloc() && sites.contains(&event.site))
                && stacks
                    .as_ref()
                    .is_none_or(|stacks| event.kind.is_alloc() && stacks.contains(&event.stack))
                && (!by_cache
                    || caches
                        .get(event.cache as usize)
                        .copied()
                        .unwrap_or_else(|| classes(event.bytes_alloc)))
        })
    }

    /// Refuses a name of a cache that no event has, for the reason that the trace knows.
    fn refuse_unknown_caches(&self, meta: &Meta) -> Result<()> {
        let names = || meta.caches.iter().flat_map(names_of);
        let slabs = meta.slabs_start.iter().chain(&meta.slabs_end);
        let listed: FxHashSet<&str> = slabs
            .flat_map(|slabs| {
                let rows = slabs.slabinfo.lines();
                rows.filter_map(|row| row.split_ascii_whitespace().next())
            })
            .collect();
        for pattern in &self.cache {
            let one = std::slice::from_ref(pattern);
            let is_known = KmallocCache::parse(pattern).is_some()
                || names().any(|name| is_cache(one, name))
                || kmalloc_bytes().any(|bytes| is_cache(one, &class_name(bytes)));
            if is_known {
                continue;
            }
            if listed.iter().any(|name| is_cache(one, name)) {
                bail!(
                    "no event names the cache {pattern}, which the recorded kernel has: either nothing of it was allocated, or \
                     it is of kmem_buckets, whose objects are among those of kmalloc; choose those by --site"
                );
            }
            if pattern.contains(['*', '?']) {
                bail!("has no cache whose name is like {pattern:?}");
            }
            let meant = nearest_name(pattern, names());
            let meant = meant.map_or_else(String::new, |name| format!("; did you mean {name:?}?"));
            bail!("has no cache called {pattern:?}{meant}");
        }
        Ok(())
    }

    /// Returns which threads are in the cgroups that are asked for, as time goes on; `None` where none is asked for.
    fn cgroups(&self, meta: &Meta) -> Result<Option<InCgroups>> {
        if self.cgroup.is_empty() {
            return Ok(None);
        }
        let names = &meta.cgroups.names;
        if meta.cgroups.is_empty() {
            bail!(
                "does not say in which memory cgroups its threads were; name them by --comm or --pid"
            );
        }
        let is_asked: Vec<bool> = names.iter().map(|name| is_below(&self.cgroup, name)).collect();
        if !is_asked.contains(&true) {
            let rooted = |path: &String| format!("/{}", path.trim_matches('/'));
            let rooted = self.cgroup.first().map(rooted).unwrap_or_default();
            let is_there = names.iter().any(|name| is_below(std::slice::from_ref(&rooted), name));
            let meant = match is_there {
                true => Some(rooted.clone()),
                false => nearest_name(&rooted, names.iter().map(String::as_str)),
            };
            let meant = meant.map_or_else(String::new, |name| format!("; did you mean {name:?}?"));
            bail!("has no thread in the memory cgroup {}{meant}", self.cgroup.join(" or "));
        }
        Ok(Some(InCgroups { is_asked, cursor: CgroupCursor::new(&meta.cgroups) }))
    }

    /// Returns the stacks that go through the functions that are asked for; `None` where none is.
    fn stacks(&self, meta: &Meta) -> Result<Option<FxHashSet<u32>>> {
        if self.callers.is_empty() {
            return Ok(None);
        }
        if meta.stacks.is_empty() {
            bail!("has no call stacks to look for --callers in; record --stacks makes some");
        }
        let is_asked: Vec<bool> = (0..meta.stacks.frames_len() as u32)
            .map(|frame| any_matches(&self.callers, function_of(&meta.stacks.frame(frame).name)))
            .collect();
        let goes_through =
            |stack: &u32| meta.stacks.places(*stack).any(|frame| is_asked[frame as usize]);
        let stacks: FxHashSet<u32> = (0..meta.stacks.len() as u32).filter(goes_through).collect();
        if stacks.is_empty() {
            bail!("has no call stack with {} in it", self.callers.join(" or "));
        }
        Ok(Some(stacks))
    }
}

/// Which threads are in cgroups that are asked for.
struct InCgroups {
    /// By place in the trace's names
    is_asked: Vec<bool>,
    cursor: CgroupCursor,
}

impl InCgroups {
    /// Returns whether a thread is in one; times never decrease from call to call.
    fn has(&mut self, time_ns: u64, thread: u32) -> bool {
        let place = self.cursor.at(time_ns, thread);
        place.and_then(|place| self.is_asked.get(place as usize)).copied().unwrap_or(false)
    }
}

/// Returns whether a cgroup is one of `patterns`, or lies below one.
fn is_below(patterns: &[String], path: &str) -> bool {
    // A path may be typed with a slash behind it; that of the root has nothing before it.
    let patterns: Vec<String> =
        patterns.iter().map(|pattern| pattern.trim_end_matches('/').to_owned()).collect();
    if patterns.iter().any(String::is_empty) {
        return true;
    }
    let ends = path.match_indices('/').map(|(end, _)| end).filter(|end| *end > 0);
    let mut folders = ends.map(|end| &path[..end]).chain([path]);
    folders.any(|folder| any_matches(&patterns, folder))
}

impl Time {
    /// Returns the first and the last moment in the trace's own nanoseconds.
    fn of_trace(self, meta: &Meta) -> (u64, u64) {
        let length_ns = (meta.time_last_ns - meta.time_first_ns) as f64;
        let at = |moment: Option<Moment>, missing: f64| {
            let ns = match moment {
                Some(Moment::Seconds(seconds)) => seconds * 1e9,
                Some(Moment::Percent(percent)) => length_ns * percent / 100.0,
                None => missing,
            };
            meta.time_first_ns.saturating_add(ns as u64)
        };
        (at(self.from, 0.0), at(self.to, length_ns))
    }
}

impl Numbers {
    fn contain(&self, number: u32) -> bool {
        self.0.iter().any(|(first, last)| (*first..=*last).contains(&number))
    }
}

/// Returns what a cache is called: by us, by the kernel that was recorded, and where it is merged with others.
fn names_of(cache: &RecordedCache) -> impl Iterator<Item = &str> {
    let aliases = cache.aliases.iter().map(String::as_str);
    [cache.name.as_str(), cache.recorded_name()].into_iter().chain(aliases)
}

/// Returns whether one of `patterns` means a cache of that name; those of kmalloc have several names (`kmalloc-1024` is
/// `kmalloc-1k` from 5.0 on).
fn is_cache(patterns: &[String], name: &str) -> bool {
    let kmalloc = KmallocCache::parse(name);
    let is_same = |pattern: &String| kmalloc.is_some() && KmallocCache::parse(pattern) == kmalloc;
    any_matches(patterns, name) || patterns.iter().any(is_same)
}

fn any_matches(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| Pattern::new(pattern).matches(name))
}

/// Returns the sizes of kmalloc's caches, up to those of whole pages.
fn kmalloc_bytes() -> impl Iterator<Item = u64> {
    const SHIFTS: std::ops::Range<u32> = 3..24;
    SHIFTS.map(|shift| 1 << shift).chain([96, 192])
}

/// Returns what slabinfo calls the kmalloc cache of objects of `bytes`, whose kind (cg, rcl, dma) is left out.
fn class_name(bytes: u64) -> String {
    match bytes {
        0 => String::new(),
        _ => KmallocType::Normal.name(bytes),
    }
}

fn parse_time(text: &str) -> Result<Time, String> {
    let wrong = || "give FROM,TO in seconds (1.5,3) or percent (10%,20%)".to_owned();
    let (from, to) = text.split_once(',').ok_or_else(wrong)?;
    let moment = |text: &str| -> Result<Option<Moment>, String> {
        let text = text.trim();
        let (number, is_percent) =
            text.strip_suffix('%').map_or((text, false), |number| (number, true));
        if text.is_empty() {
            return Ok(None);
        }
        let number = number.parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0);
        let number = number.ok_or_else(wrong)?;
        Ok(Some(if is_percent { Moment::Percent(number) } else { Moment::Seconds(number) }))
    };
    let time = Time { from: moment(from)?, to: moment(to)? };
    match (time.from, time.to) {
        (Some(Moment::Seconds(from)), Some(Moment::Seconds(to)))
        | (Some(Moment::Percent(from)), Some(Moment::Percent(to)))
            if from > to =>
        {
            Err("it ends before it begins; give the earlier moment first".to_owned())
        }
        _ => Ok(time),
    }
}

/// Reads a name of a list.
pub(super) fn parse_name(text: &str) -> Result<String, String> {
    Some(text.to_owned())
        .filter(|name| !name.is_empty())
        .ok_or_else(|| "a name is empty".to_owned())
}

fn parse_list(text: &str) -> Result<Numbers, String> {
    let range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| text.trim().parse::<u32>().ok();
        number(first).zip(number(last))
    };
    let numbers: Option<Vec<_>> = text.split(',').map(range).collect();
    if let Some((first, last)) = numbers.iter().flatten().find(|(first, last)| first > last) {
        return Err(format!("the range {first}-{last} is turned round: give {last}-{first}"));
    }
    numbers.map(Numbers).ok_or_else(|| "give numbers and ranges of them (0,2-3)".to_owned())
}

#[cfg(test)]
mod tests {
    use slablab_trace::SlabSnapshot;

    use super::*;

    #[test]
    fn spans_and_lists_are_read_or_refused() {
        let seconds = |number| Some(Moment::Seconds(number));
        assert_eq!(parse_time("1.5,3"), Ok(Time { from: seconds(1.5), to: seconds(3.0) }));
        assert_eq!(parse_time(",20%"), Ok(Time { from: None, to: Some(Moment::Percent(20.0)) }));
        for wrong in ["", "1", "a,b", "-1,2", "nan,1", "inf,", "90%,10%", "3,1"] {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
        assert!(parse_time("1,1").is_ok() && parse_time("50%,0.1").is_ok());
        assert!(parse_name("").is_err());
        assert_eq!(parse_list("0,2-3"), Ok(Numbers(vec![(0, 0), (2, 3)])));
        assert!(["", "3-2", "x", "1,,2"].into_iter().all(|wrong| parse_list(wrong).is_err()));
    }

    /// `msg_msg-1k` of kmem_buckets was in slabinfo, and a selection of it was empty without a reason.
    #[test]
    fn a_cache_that_no_event_names_is_refused_with_the_reason() {
        let dentry = RecordedCache { name: "dentry".to_owned(), ..RecordedCache::default() };
        let mut slabs = SlabSnapshot::default();
        slabs.slabinfo = "msg_msg-1k 16 16 1024 16 4\n".to_owned();
        let meta = Meta { caches: vec![dentry], slabs_end: Some(slabs), ..Meta::default() };
        let chosen = |cache: &str| {
            let args = FilterArgs { cache: vec![cache.to_owned()], ..FilterArgs::default() };
            args.refuse_unknown_caches(&meta).map_err(|why| why.to_string())
        };
        for known in ["dentry", "den*", "kmalloc-1k", "kmalloc-1024", "kmalloc-rcl-64", "kmalloc-*"]
        {
            assert_eq!(chosen(known), Ok(()));
        }
        for listed in ["msg_msg-1k", "msg*"] {
            assert!(chosen(listed).unwrap_err().contains("it is of kmem_buckets"));
        }
        assert!(chosen("no*").unwrap_err().contains("has no cache whose name is like"));
        let slip = chosen("dentri").unwrap_err();
        assert_eq!(slip, "has no cache called \"dentri\"; did you mean \"dentry\"?");
    }

    #[test]
    fn kmalloc_caches_are_called_as_in_slabinfo() {
        assert_eq!(
            [64, 96, 1024, 8192].map(class_name),
            ["kmalloc-64", "kmalloc-96", "kmalloc-1k", "kmalloc-8k"]
        );
        assert_eq!(class_name(0), "");
    }
}
