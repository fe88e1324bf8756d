//! Puts the events of a `perf.data` in order of time.
//!
//! How it works: perf empties one CPU's buffer after the other, so what waits for its place is a
//! handful of *runs*, each in order in itself. They are merged when a round settles them: the run
//! whose next event is earliest gives all it has before the next run's turn. Where a file has no
//! such order (many short runs), events are sorted instead.
//!
//! Invariants: what is given out is in order of time as long as the file keeps its promise about
//! rounds; at the same time, in the order of the file. Memory is that of two rounds.

use crate::RawEvent;

/// More runs than this are sorted rather than merged: each of their heads is looked at for each turn.
const RUNS_MAX: usize = 64;

/// Events given out at once, at least, while there are any.
const CHUNK_EVENTS: usize = 4096;

/// Events that wait for their place in time.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Vec<RawEvent>,
    /// Where in `waiting` each run begins.
    starts: Vec<usize>,
    /// The latest time seen, and the latest at the end of the last round: nothing earlier than that
    /// comes any more.
    latest_ns: u64,
    settled_ns: u64,
    /// What is being merged: the rest of each run up to what is settled.
    merging: Vec<std::ops::Range<usize>>,
    /// Where the runs ended that are being merged.
    ends: Vec<usize>,
}

impl Queue {
    #[inline]
    pub(super) fn push(&mut self, event: RawEvent) {
        debug_assert!(self.merging.is_empty(), "what is settled goes out first");
        if self.waiting.last().is_none_or(|last| event.time_ns < last.time_ns) {
            self.starts.push(self.waiting.len());
        }
        self.latest_ns = self.latest_ns.max(event.time_ns);
        self.waiting.push(event);
    }

    /// Ends a round: what came before the last round's end is settled.
    pub(super) fn round(&mut self) {
        if self.starts.len() > RUNS_MAX {
            self.waiting.sort_by_key(|event| event.time_ns);
            self.starts.clear();
            self.starts.push(0);
        }
        let settled_ns = std::mem::replace(&mut self.settled_ns, self.latest_ns);
        self.ends = self.starts.iter().skip(1).copied().chain([self.waiting.len()]).collect();
        let runs = self.starts.iter().zip(&self.ends).map(|(&start, &end)| {
            let settled = self.waiting[start..end].partition_point(|e| e.time_ns <= settled_ns);
            start..start + settled
        });
        self.merging = runs.collect();
    }

    /// Ends the last round: everything is settled.
    pub(super) fn finish(&mut self) {
        self.settled_ns = u64::MAX;
        self.round();
    }

    /// Appends settled events; returns whether there are any left.
    pub(super) fn take(&mut self, to: &mut Vec<RawEvent>) -> bool {
        let before = to.len();
        while to.len() - before < CHUNK_EVENTS {
            // The run whose next event is earliest, and until when it stays so. At the same time
            // the run that stands first in the file comes first.
            let (mut first, mut first_key, mut until) =
                (None, (u64::MAX, usize::MAX), (u64::MAX, usize::MAX));
            for (run, rest) in self.merging.iter().enumerate().filter(|(_, rest)| !rest.is_empty())
            {
                let key = (self.waiting[rest.start].time_ns, run);
                if key < first_key {
                    (until, first, first_key) = (first_key, Some(run), key);
                } else if key < until {
                    until = key;
                }
            }
            let Some(run) = first else {
                self.forget_settled();
                return false;
            };
            let rest = &mut self.merging[run];
            let events = &self.waiting[rest.clone()];
            let early = events.iter().take(CHUNK_EVENTS);
            let ready = early.take_while(|event| (event.time_ns, run) < until).count();
            to.extend_from_slice(&events[..ready]);
            rest.start += ready;
        }
        true
    }

    /// Keeps what is not settled yet.
    fn forget_settled(&mut self) {
        let mut kept = 0;
        self.starts.clear();
        for (settled, &end) in self.merging.drain(..).zip(&self.ends) {
            if settled.end < end {
                self.starts.push(kept);
                self.waiting.copy_within(settled.end..end, kept);
                kept += end - settled.end;
            }
        }
        self.waiting.truncate(kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, NONE};

    fn event(time_ns: u64, pid: u32) -> RawEvent {
        RawEvent {
            time_ns,
            cpu: 0,
            pid,
            kind: Kind::Kfree,
            ptr: 8,
            site: 0,
            cache: NONE,
            bytes_req: 0,
            bytes_alloc: 0,
            gfp: 0,
            node: -1,
        }
    }

    fn drain(queue: &mut Queue) -> Vec<(u64, u32)> {
        let mut events = Vec::new();
        while queue.take(&mut events) {}
        events.iter().map(|event| (event.time_ns, event.pid)).collect()
    }

    #[test]
    fn a_round_settles_what_came_before_the_last_ones_end() {
        let mut queue = Queue::default();
        for (time_ns, pid) in [(1, 0), (5, 1), (9, 2), (2, 3), (5, 4), (8, 5)] {
            queue.push(event(time_ns, pid));
        }
        queue.round();
        assert_eq!(drain(&mut queue), []);
        queue.push(event(7, 6));
        queue.push(event(12, 7));
        queue.round();
        // At the same time, in the order of the file.
        let first = [(1, 0), (2, 3), (5, 1), (5, 4), (7, 6), (8, 5), (9, 2)];
        assert_eq!(drain(&mut queue), first);
        queue.finish();
        assert_eq!(drain(&mut queue), [(12, 7)]);
        assert!(!queue.take(&mut Vec::new()));
    }

    #[test]
    fn merging_and_sorting_agree() {
        for runs in [3, RUNS_MAX + 3] {
            let mut queue = Queue::default();
            let mut all = Vec::new();
            for run in 0..runs as u64 {
                for step in 0..200 {
                    let (time_ns, pid) = (step * 7 + run % 5, all.len() as u32);
                    queue.push(event(time_ns, pid));
                    all.push((time_ns, pid));
                }
            }
            queue.finish();
            all.sort_by_key(|&(time_ns, _)| time_ns);
            assert_eq!(drain(&mut queue), all);
        }
    }
}
