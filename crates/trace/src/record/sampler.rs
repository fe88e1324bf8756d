//! Reads `/proc/slabinfo` again and again while the events are recorded, so that a replay can be compared with it.
//!
//! How it works: a thread reads it as often as costs one part in [`COST_PARTS`] of one CPU's time, by what the last
//! reading took, and not more often than every [`INTERVAL_MIN`]. The text is read at one go into the same memory. Who
//! may not read it, or whose kernel has none, records without.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::Samples;
use crate::meta::SlabSnapshot;

/// A reading takes some 200 us on a machine of 230 caches.
const COST_PARTS: u64 = 150;
const INTERVAL_MIN: Duration = Duration::from_millis(10);
const INTERVAL_MAX: Duration = Duration::from_millis(100);

/// How long the thread sleeps at most before it looks whether the recording has ended.
const NAP: Duration = Duration::from_millis(20);

/// The readings so far.
#[derive(Debug)]
pub(super) struct Sampler {
    slabinfo: Option<File>,
    buffer: Vec<u8>,
    page_bytes: u64,
    pub(super) samples: Samples,
}

impl Sampler {
    pub(super) fn open(page_bytes: u32) -> Sampler {
        let slabinfo = File::open("/proc/slabinfo").ok();
        let page_bytes = u64::from(page_bytes);
        Sampler { slabinfo, buffer: vec![0; 256 << 10], page_bytes, samples: Samples::default() }
    }

    /// Takes samples until `stop`.
    pub(super) fn run(&mut self, stop: &AtomicBool) {
        let mut next = Instant::now();
        let mut at_most = INTERVAL_MIN;
        while !stop.load(Ordering::Acquire) {
            let now = Instant::now();
            if now < next {
                std::thread::sleep(NAP.min(next - now));
                continue;
            }
            let before_ns = clock_ns(ClockId::ThreadCPUTime);
            self.sample();
            let cost_ns = clock_ns(ClockId::ThreadCPUTime) - before_ns;
            let pause = Duration::from_nanos(cost_ns * COST_PARTS);
            next = now + pause.clamp(INTERVAL_MIN, INTERVAL_MAX).min(at_most);
            at_most = (at_most * 2).min(INTERVAL_MAX);
        }
    }

    /// Takes a sample.
    pub(super) fn sample(&mut self) {
        let Some(slabinfo) = &self.slabinfo else { return };
        // The clock that the events have.
        let before_ns = clock_ns(ClockId::Monotonic);
        let mut filled = 0;
        loop {
            if filled == self.buffer.len() {
                self.buffer.resize(2 * filled, 0);
            }
            match slabinfo.read_at(&mut self.buffer[filled..], filled as u64) {
                Ok(0) => break,
                Ok(bytes) => filled += bytes,
                Err(_) => return,
            }
        }
        let time_ns = before_ns.midpoint(clock_ns(ClockId::Monotonic));
        let slabinfo = String::from_utf8_lossy(&self.buffer[..filled]).into_owned();
        let is_first = self.samples.is_empty();
        self.samples.begin(time_ns);
        for line in (SlabSnapshot { slabinfo, ..SlabSnapshot::default() }).slabinfo() {
            let cache = self.samples.note(line.name, line.active_objs, line.num_slabs);
            cache.slab_objects = line.objperslab as u32;
            cache.slab_bytes = line.pagesperslab * self.page_bytes;
            if is_first {
                cache.partial_slabs = attribute(line.name, "partial");
                cache.partial_objects = attribute(line.name, "objects_partial");
            }
        }
    }
}

/// Returns a number that sysfs has of a cache, 0 where it has none.
fn attribute(cache: &str, name: &str) -> u32 {
    let text = std::fs::read_to_string(format!("/sys/kernel/slab/{cache}/{name}"));
    let number = |text: String| text.split_ascii_whitespace().next()?.parse().ok();
    text.ok().and_then(number).unwrap_or(0)
}

fn clock_ns(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
