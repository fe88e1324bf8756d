//! How many allocations there are in all, counted by the kernel while nothing is recorded.
//!
//! # How it works
//! A perf counter of each event that allocates on each CPU, and another of what this program's own threads
//! do, which is taken off. A counter adds one to a number where the tracer of [`slices`](super::slices) writes a record,
//! so that it can be on all the time.
//!
//! Linux counterpart: `perf stat -a -e kmem:kmalloc,kmem:kmem_cache_alloc`; `perf_event_open(2)`.

use std::io;

use slablab_host::{Counted, EventCounter};

use crate::record::machine;
use crate::record::tracefs::Tracefs;

/// Counters of all allocations, from when they were opened.
#[derive(Debug)]
pub(super) struct AllocCounters(Vec<EventCounters>);

/// The counters of one event.
#[derive(Debug)]
struct EventCounters {
    by_cpu: Vec<EventCounter>,
    own: EventCounter,
}

impl AllocCounters {
    /// Opens and starts the counters.
    ///
    /// # Errors
    /// If the kernel refuses one: it has no perf events, forbids them, or a file for each CPU and event is too many.
    pub(super) fn open(tracefs: &Tracefs) -> io::Result<AllocCounters> {
        let cpus = machine::cpus_online();
        let of_event = |event: &str| {
            let id = tracefs.root.join("events/kmem").join(event).join("id");
            let id = std::fs::read_to_string(id)?.trim().parse().map_err(io::Error::other)?;
            let on = |cpu: &u32| EventCounter::open(id, Counted::Cpu(*cpu));
            Ok(EventCounters {
                by_cpu: cpus.iter().map(on).collect::<io::Result<_>>()?,
                own: EventCounter::open(id, Counted::Own)?,
            })
        };
        let events = tracefs.kmem_events();
        let allocating = events.into_iter().filter(|event| event.contains("alloc"));
        allocating.map(of_event).collect::<io::Result<_>>().map(AllocCounters)
    }

    /// Returns how many there were since the counters were opened, without this program's.
    pub(super) fn read(&self) -> io::Result<u64> {
        let mut allocs = 0;
        for event in &self.0 {
            // The program's own first, so that never more is taken off than there was.
            let own = event.own.read()?;
            let all = event.by_cpu.iter().map(EventCounter::read).sum::<io::Result<u64>>()?;
            allocs += all.saturating_sub(own);
        }
        Ok(allocs)
    }
}
