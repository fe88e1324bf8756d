//! The memory of one allocator over trace time: bytes requested, allocated and held, with peaks, means and samples.

use slablab_kmem::Gauges;
use slablab_trace::Meta;

use crate::metrics::gauge::{Gauge, Level};
use crate::metrics::result::{Allocator, Fragmentation};
use crate::metrics::series::Series;
use crate::metrics::span_peaks::SpanPeaks;

/// Follows the memory of one allocator.
#[derive(Debug, Default)]
pub(crate) struct MemoryTimeline {
    /// Bytes requested by live objects; the runner keeps it
    pub(crate) requested: u64,
    requested_gauge: Gauge,
    allocated: Gauge,
    held: Gauge,
    slab: Gauge,
    slabs: Gauge,
    at_peak: (u64, u64, u64),
    peak_event: u64,
    now: (u64, u64, u64),
    series: Series,
    span_peaks: SpanPeaks,
}

impl MemoryTimeline {
    /// Starts at the beginning of a trace.
    pub(crate) fn new(meta: &Meta) -> Self {
        let (start_ns, end_ns) = (meta.time_first_ns, meta.time_last_ns);
        Self {
            requested_gauge: Gauge::new(start_ns),
            allocated: Gauge::new(start_ns),
            held: Gauge::new(start_ns),
            slab: Gauge::new(start_ns),
            slabs: Gauge::new(start_ns),
            series: Series::new(start_ns, end_ns),
            span_peaks: SpanPeaks::new(meta.events),
            ..Self::default()
        }
    }

    /// Notes the engine's gauges after the event in row `event` of the trace.
    #[inline]
    pub(crate) fn note(&mut self, now_ns: u64, event: u64, gauges: &Gauges) {
        let held = gauges.held_bytes();
        self.now = (self.requested, gauges.live_bytes, held);
        if self.held.is_new_peak(held) {
            self.at_peak = self.now;
            self.peak_event = event;
        }
        self.requested_gauge.set(now_ns, self.requested);
        self.allocated.set(now_ns, gauges.live_bytes);
        self.held.set(now_ns, held);
        self.slab.set(now_ns, gauges.slab_bytes);
        self.slabs.set(now_ns, gauges.slabs);
        self.series.note(now_ns, self.requested, gauges.live_bytes, held);
        self.span_peaks.note(event, held);
    }

    /// Ends the timeline: returns an [`Allocator`] with only the memory filled in.
    pub(crate) fn finish(self, meta: &Meta) -> Allocator {
        let close = |gauge: Gauge| gauge.finish(meta.time_first_ns, meta.time_last_ns);
        let of = |(requested, allocated, held)| Fragmentation::new(requested, allocated, held);
        let requested_bytes: Level = close(self.requested_gauge);
        let allocated_bytes = close(self.allocated);
        let held_bytes = close(self.held);
        Allocator {
            requested_bytes,
            allocated_bytes,
            held_bytes,
            slab_bytes: close(self.slab),
            slabs: close(self.slabs),
            peak_event: self.peak_event,
            at_peak: of(self.at_peak),
            at_end: of(self.now),
            on_average: of((requested_bytes.mean, allocated_bytes.mean, held_bytes.mean)),
            series: self.series.finish(),
            span_peaks: self.span_peaks.finish(),
            ..Allocator::default()
        }
    }
}
