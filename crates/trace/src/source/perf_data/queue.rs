//! Puts the events of a `perf.data` in order of time.
//!
//! # How it works
//! Perf empties one CPU's buffer after the other, so what waits for its place is a handful of runs,
//! each in order in itself. A round sorts them, which for a stable sort is merging, and gives out what is settled.
//!
//! # Invariants
//! What is given out is in order of time as long as the file keeps its promise about rounds; at the
//! same time, in the order of the file. Memory is that of two rounds.

use crate::RawEvent;

/// Events that wait for their place in time.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Vec<RawEvent>,
    /// The latest time seen, and the latest at the end of the last round: nothing earlier than that comes any more.
    latest_ns: u64,
    settled_ns: u64,
}

impl Queue {
    #[inline]
    pub(super) fn push(&mut self, event: RawEvent) {
        self.latest_ns = self.latest_ns.max(event.time_ns);
        self.waiting.push(event);
    }

    /// Ends a round: appends what came before the last round's end, which is settled.
    pub(super) fn round(&mut self, to: &mut Vec<RawEvent>) {
        let settled_ns = std::mem::replace(&mut self.settled_ns, self.latest_ns);
        self.waiting.sort_by_key(|event| event.time_ns);
        let settled = self.waiting.partition_point(|event| event.time_ns <= settled_ns);
        to.extend(self.waiting.drain(..settled));
    }

    /// Ends the last round: appends all that is left.
    pub(super) fn finish(&mut self, to: &mut Vec<RawEvent>) {
        self.settled_ns = u64::MAX;
        self.round(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(time_ns: u64, pid: u32) -> RawEvent {
        RawEvent { time_ns, pid, ..RawEvent::EMPTY }
    }

    fn settled(queue: &mut Queue, end: fn(&mut Queue, &mut Vec<RawEvent>)) -> Vec<(u64, u32)> {
        let mut events = Vec::new();
        end(queue, &mut events);
        events.iter().map(|event| (event.time_ns, event.pid)).collect()
    }

    #[test]
    fn a_round_settles_what_came_before_the_last_ones_end() {
        let mut queue = Queue::default();
        for (time_ns, pid) in [(1, 0), (5, 1), (9, 2), (2, 3), (5, 4), (8, 5)] {
            queue.push(event(time_ns, pid));
        }
        assert_eq!(settled(&mut queue, Queue::round), []);
        queue.push(event(7, 6));
        queue.push(event(12, 7));
        // At the same time, in the order of the file.
        let first = [(1, 0), (2, 3), (5, 1), (5, 4), (7, 6), (8, 5), (9, 2)];
        assert_eq!(settled(&mut queue, Queue::round), first);
        assert_eq!(settled(&mut queue, Queue::finish), [(12, 7)]);
        assert_eq!(settled(&mut queue, Queue::finish), []);
    }
}
