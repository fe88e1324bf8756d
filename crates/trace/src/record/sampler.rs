//! Reads `/proc/slabinfo` again and again while the events are recorded, so that a replay can be compared with it.
//!
//! # How it works
//! A thread reads it as often as costs one part in [`COST_PARTS`] of one CPU's time, by what the last
//! reading took, and not more often than every [`INTERVAL_MIN`]. The text is read at one go into the same memory. Who
//! may not read it, or whose kernel has none, records without. How objects are spread over slabs is asked of sysfs
//! before the first reading and after the last.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use rustix::time::{ClockId, clock_gettime};

use super::readings::Journal;
use super::zones;
use crate::meta::SlabSnapshot;
use crate::{BuddyReading, SampledCache, Samples};

/// A reading takes some 200 us on a machine of 230 caches.
const COST_PARTS: u64 = 150;
const INTERVAL_MIN: Duration = Duration::from_millis(10);
const INTERVAL_MAX: Duration = Duration::from_millis(100);

/// The machine has settled when at most this number of objects came or went between two readings, several times in a row
/// (a grace period takes some 20 ms). The number of readings is limited.
const SETTLED_OBJECTS: u64 = 100;
const SETTLED_READINGS: u32 = 5;
const SETTLE_READINGS_MAX: u32 = 30;

/// How long the thread sleeps at most before it looks whether it is wanted no longer.
pub(super) const NAP: Duration = Duration::from_millis(20);

/// The readings so far.
#[derive(Debug)]
pub(super) struct Sampler {
    slabinfo: Option<File>,
    buffer: Vec<u8>,
    /// When each part of the last reading ended, and how many bytes there were then: the kernel gives a page at a time.
    parts: Vec<(u64, usize)>,
    page_bytes: u64,
    /// By cache: how its objects were spread over slabs before the recording.
    spread: FxHashMap<String, SampledCache>,
    journal: Journal,
    /// Who is told of each reading, when it is in the samples
    pub(super) listener: Option<Sender<Taken>>,
    pub(super) samples: Samples,
    /// The free blocks of pages, where these are to be read
    pub(super) buddies: Option<Vec<BuddyReading>>,
}

/// A reading that was taken.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) begin_ns: u64,
    /// The ends of its parts, from its beginning
    pub(super) ends_ns: Vec<u32>,
}

impl Sampler {
    /// `readings` is the file that has what was read if the recorder is killed.
    pub(super) fn open(page_bytes: u32, readings: File) -> Sampler {
        let slabinfo = File::open("/proc/slabinfo").ok();
        let page_bytes = u64::from(page_bytes);
        let (spread, samples) = (FxHashMap::default(), Samples::default());
        let (buffer, parts) = (vec![0; 256 << 10], Vec::new());
        let journal = Journal::new(readings);
        let (listener, buddies) = (None, None);
        Sampler { slabinfo, buffer, parts, page_bytes, spread, journal, listener, samples, buddies }
    }

    /// Takes samples until `stop`, and a last one then.
    pub(super) fn run(&mut self, stop: &AtomicBool) {
        let mut next = Instant::now();
        let mut at_most = INTERVAL_MIN;
        while !stop.load(Ordering::Acquire) {
            let now = Instant::now();
            if now < next {
                std::thread::park_timeout(NAP.min(next - now));
                continue;
            }
            let before_ns = clock_ns(ClockId::ThreadCPUTime);
            self.sample();
            let cost_ns = clock_ns(ClockId::ThreadCPUTime) - before_ns;
            let pause = Duration::from_nanos(cost_ns * COST_PARTS);
            next = now + pause.clamp(INTERVAL_MIN, INTERVAL_MAX).min(at_most);
            at_most = (at_most * 2).min(INTERVAL_MAX);
        }
        self.sample();
        for (name, cache) in &mut self.samples.caches {
            cache.kept_slabs_end = attribute(name, "cpu_slabs").map(|_| {
                let spread = spread(name);
                spread.cpu_slabs + spread.partial_slabs.saturating_sub(spread.partial_objects)
            });
        }
    }

    /// Reads how objects are spread over slabs. Then waits until what the recorder's preparations left behind is freed:
    /// each file of sysfs that is read leaves some objects for a grace period. A busy machine is not waited for.
    pub(super) fn prepare(&mut self) {
        let slabs = self.read().unwrap_or_default();
        self.spread = slabs.slabinfo().map(|line| (line.name.into(), spread(line.name))).collect();
        let (mut before, mut quiet) = (self.objects(), 0);
        for _ in 0..SETTLE_READINGS_MAX {
            std::thread::sleep(INTERVAL_MIN);
            let now = self.objects();
            quiet = if before.abs_diff(now) < SETTLED_OBJECTS { quiet + 1 } else { 0 };
            if quiet == SETTLED_READINGS {
                break;
            }
            before = now;
        }
    }

    /// Returns how many objects are in use.
    fn objects(&mut self) -> u64 {
        let slabs = self.read().unwrap_or_default();
        slabs.slabinfo().map(|line| line.active_objs).sum()
    }

    /// Takes a sample.
    pub(super) fn sample(&mut self) {
        // The clock that the events have.
        let begin_ns = clock_ns(ClockId::Monotonic);
        if let Some(readings) = &mut self.buddies {
            readings.extend(zones::reading(begin_ns));
        }
        let Some(slabs) = self.read() else { return };
        let is_first = self.samples.is_empty();
        let mut spread = std::mem::take(&mut self.spread);
        let ends_ns = self.parts.iter().map(|(at_ns, _)| at_ns.saturating_sub(begin_ns) as u32);
        self.samples.begin_reading(begin_ns, ends_ns.collect());
        for line in slabs.slabinfo() {
            let cache = self.samples.note(line.name, line.active_objs, line.num_slabs);
            // A part has whole lines; the name is a piece of the text.
            let place = line.name.as_ptr() as usize - slabs.slabinfo.as_ptr() as usize;
            let part = self.parts.partition_point(|(_, bytes)| *bytes <= place) as u16;
            cache.parts = match is_first || cache.slab_bytes == 0 {
                true => (part, part),
                false => (cache.parts.0.min(part), cache.parts.1.max(part)),
            };
            cache.slab_objects = line.objperslab as u32;
            cache.slab_bytes = line.pagesperslab * self.page_bytes;
            if let Some(spread) = spread.remove(line.name).filter(|_| is_first) {
                cache.partial_slabs = spread.partial_slabs;
                cache.partial_objects = spread.partial_objects;
                cache.cpu_slabs = spread.cpu_slabs;
                cache.cpu_partial_slabs = spread.cpu_partial_slabs;
                cache.sheaf_capacity = spread.sheaf_capacity;
            }
        }
        self.journal.note(&self.samples, begin_ns);
        if let Some(listener) = &self.listener {
            let ends_ns = self.samples.parts_ns.last().cloned().unwrap_or_default();
            // It may have given up.
            let _ = listener.send(Taken { begin_ns, ends_ns });
        }
    }

    /// Reads `/proc/slabinfo`.
    fn read(&mut self) -> Option<SlabSnapshot> {
        let slabinfo = self.slabinfo.as_ref()?;
        let mut filled = 0;
        self.parts.clear();
        loop {
            if filled == self.buffer.len() {
                self.buffer.resize(2 * filled, 0);
            }
            match slabinfo.read_at(&mut self.buffer[filled..], filled as u64) {
                Ok(0) => break,
                Ok(bytes) => {
                    filled += bytes;
                    self.parts.push((clock_ns(ClockId::Monotonic), filled));
                }
                Err(_) => return None,
            }
        }
        let slabinfo = String::from_utf8_lossy(&self.buffer[..filled]).into_owned();
        Some(SlabSnapshot { slabinfo, ..SlabSnapshot::default() })
    }
}

/// Returns how the objects of a cache are spread over slabs.
fn spread(cache: &str) -> SampledCache {
    let count = |name| attribute(cache, name).map_or(0, |text| number(&text));
    SampledCache {
        partial_slabs: count("partial"),
        partial_objects: count("objects_partial"),
        cpu_slabs: count("cpu_slabs"),
        cpu_partial_slabs: slabs_by_cpu(&attribute(cache, "slabs_cpu_partial").unwrap_or_default()),
        sheaf_capacity: count("sheaf_capacity"),
        ..SampledCache::default()
    }
}

/// Returns what sysfs says of a cache; `None` where it has no such file.
fn attribute(cache: &str, name: &str) -> Option<String> {
    std::fs::read_to_string(format!("/sys/kernel/slab/{cache}/{name}")).ok()
}

/// Returns the number that a text begins with, 0 where there is none.
fn number(text: &str) -> u32 {
    text.split_ascii_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// Returns the slabs of each CPU of a text such as `136(13) C0=10(1) C1=126(12)`: objects, and in parentheses slabs.
fn slabs_by_cpu(text: &str) -> Vec<u32> {
    let mut by_cpu = Vec::new();
    for word in text.split_ascii_whitespace() {
        let of_cpu = word.strip_prefix('C').and_then(|word| word.split_once('='));
        let Some((cpu, (_, slabs))) = of_cpu.and_then(|(c, of)| Some((c, of.split_once('(')?)))
        else {
            continue;
        };
        let cpu = cpu.parse::<u16>().map(usize::from);
        if let (Ok(cpu), Ok(slabs)) = (cpu, slabs.trim_end_matches(')').parse()) {
            by_cpu.resize(by_cpu.len().max(cpu + 1), 0);
            by_cpu[cpu] = slabs;
        }
    }
    by_cpu
}

/// Returns what a clock says.
pub(super) fn clock_ns(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_slabs_of_cpus_are_read_as_sysfs_writes_them() {
        assert_eq!(slabs_by_cpu("136(13) C0=10(1) C1=126(12)\n"), [1, 12]);
        // 6.1 and a CPU without any.
        assert_eq!(slabs_by_cpu("48(6) C3=48(6)"), [0, 0, 0, 6]);
        for nothing in ["", "0(0)\n", "C=1(2) Cx=1(2) C1=2"] {
            assert!(slabs_by_cpu(nothing).is_empty(), "{nothing}");
        }
        assert_eq!((number("9 N0=9\n"), number("")), (9, 0));
    }
}
