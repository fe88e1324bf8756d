//! One event for each large block of `kmalloc`, where kernels emit two.
//!
//! # How it works
//! A block that is too large for slabs comes from the page allocator. Between 6.2 and 7.3 the function that takes it there emits
//! an event whose call site is inside the allocator, and the function that was called emits another, with the call site that
//! asked. The first waits here until the second comes on the same CPU, in the same thread, with the same address, sizes and
//! flags, and goes then. Until it is known, what is read behind it waits as well, so that events stay in the order of time.
//!
//! # Invariants
//! At most [`EVENTS_MAX`] events wait, and each for at most [`WAIT_NS`] of the recording's time.
//!
//! Linux counterpart: `__do_kmalloc_node` and `__kmalloc_large_node_noprof` in `mm/slub.c` @ 6.12 to 7.3.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::ahead::Movable;
use super::recording::{Facts, Source};
use crate::{Error, Kind, NONE, RawEvent};

/// The least that a block from the page allocator has: smaller ones lie in slabs on every machine.
const LARGE_BYTES_MIN: u64 = 16 << 10;
/// Only an interrupt, or another thread's turn, comes between the two events.
const WAIT_NS: u64 = 100_000_000;
const EVENTS_MAX: usize = 1 << 16;

/// The events of a source, with one for each large block.
#[derive(Debug)]
pub(crate) struct LargeOnce<S> {
    pub(crate) source: S,
    /// What was read last, and not looked at yet
    read: Vec<RawEvent>,
    /// Events from the first that waits on; `None` for one that goes
    queue: VecDeque<Option<RawEvent>>,
    /// How many events have left the queue
    gone: u64,
    /// By address: the number of the event that waits
    waiting: FxHashMap<u64, u64>,
    has_ended: bool,
}

impl<S: Source> LargeOnce<S> {
    pub(crate) fn new(source: S) -> Self {
        Self {
            source,
            read: Vec::new(),
            queue: VecDeque::new(),
            gone: 0,
            waiting: FxHashMap::default(),
            has_ended: false,
        }
    }

    /// Takes an event; those that need not wait go `to`.
    fn take(&mut self, event: RawEvent, to: &mut Vec<RawEvent>) {
        let is_large = is_large(&event);
        if self.queue.is_empty() && !is_large {
            return to.push(event);
        }
        let ptr = Some(event.ptr).filter(|_| event.page.is_none());
        let place = ptr
            .and_then(|ptr| self.waiting.remove(&ptr))
            .map(|number| (number - self.gone) as usize);
        let first = place.and_then(|place| self.queue.get_mut(place));
        match first {
            Some(first) if first.as_ref().is_some_and(|first| is_same(first, &event)) => {
                *first = None;
            }
            _ if is_large => {
                let number = self.gone + self.queue.len() as u64;
                self.waiting.insert(event.ptr, number);
            }
            _ => {}
        }
        self.queue.push_back(Some(event));
        while let Some(first) = self.queue.front() {
            let waits = first.as_ref().is_some_and(|first| {
                self.waiting.get(&first.ptr) == Some(&self.gone)
                    && event.time_ns.saturating_sub(first.time_ns) <= WAIT_NS
            });
            if waits && self.queue.len() <= EVENTS_MAX {
                break;
            }
            self.give_first(to);
        }
    }

    fn give_first(&mut self, to: &mut Vec<RawEvent>) {
        let Some(first) = self.queue.pop_front() else { return };
        if let Some(first) = first {
            if self.waiting.get(&first.ptr) == Some(&self.gone) {
                self.waiting.remove(&first.ptr);
            }
            to.push(first);
        }
        self.gone += 1;
    }
}

impl<S: Source> Source for LargeOnce<S> {
    fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
        if self.has_ended {
            return Ok(false);
        }
        let first = to.len();
        self.has_ended = !self.source.read(to)?;
        // Most parts have no such block, and stay where they are.
        if self.queue.is_empty() && !to[first..].iter().any(is_large) {
            return Ok(!self.has_ended || !to.is_empty());
        }
        let mut read = std::mem::take(&mut self.read);
        read.extend(to.drain(first..));
        read.drain(..).for_each(|event| self.take(event, to));
        self.read = read;
        if self.has_ended {
            while !self.queue.is_empty() {
                self.give_first(to);
            }
        }
        // What was left is read once more as a part that goes on.
        Ok(!self.has_ended || !to.is_empty())
    }

    fn facts(&self) -> &Facts {
        self.source.facts()
    }

    fn is_sampled(&self) -> bool {
        self.source.is_sampled()
    }
}

impl<S: Movable> Movable for LargeOnce<S> {
    fn facts_mut(&mut self) -> &mut Facts {
        self.source.facts_mut()
    }
}

/// Returns whether an event tells of a block that may lie in no slab.
#[inline]
fn is_large(event: &RawEvent) -> bool {
    event.kind == Kind::Kmalloc && event.bytes_alloc >= LARGE_BYTES_MIN && event.has_object()
}

/// Returns whether two events tell of one block: `second` names the call site that asked.
fn is_same(first: &RawEvent, second: &RawEvent) -> bool {
    let of = |event: &RawEvent| (event.kind, event.cpu, event.pid, event.node, event.gfp);
    of(first) == of(second)
        && (first.bytes_req, first.bytes_alloc) == (second.bytes_req, second.bytes_alloc)
        && second.time_ns.saturating_sub(first.time_ns) <= WAIT_NS
        && (first.site != second.site || first.site == NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Events(VecDeque<RawEvent>, Facts);

    impl Source for Events {
        fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
            let next = self.0.pop_front();
            to.extend(next);
            Ok(next.is_some())
        }

        fn facts(&self) -> &Facts {
            &self.1
        }
    }

    fn event(time_ns: u64, kind: Kind, ptr: u64, site: u32, kib: u64) -> RawEvent {
        let bytes_alloc = kib << 10;
        let bytes_req = bytes_alloc - 1;
        RawEvent { time_ns, kind, ptr, site, bytes_req, bytes_alloc, ..RawEvent::EMPTY }
    }

    /// Returns time and call site of what is left.
    fn left(events: &[RawEvent]) -> Vec<(u64, u32)> {
        let source = Events(events.iter().copied().collect(), Facts::default());
        let (mut source, mut all) = (LargeOnce::new(source), Vec::new());
        let mut part = Vec::new();
        while source.read(&mut part).unwrap() {
            all.extend(part.drain(..).map(|event| (event.time_ns, event.site)));
        }
        assert!(part.is_empty());
        all
    }

    /// A pipe of 1 MiB used to have a call site inside the allocator, as much waste again beside the real one, and
    /// implicit frees.
    #[test]
    fn a_large_block_has_the_call_site_that_asked() {
        use Kind::{Kfree, Kmalloc, KmemCacheAlloc};
        for kib in [16, 64, 1024, 4096] {
            let events = [
                event(1, Kmalloc, 0x10000, 7, kib),
                event(2, KmemCacheAlloc, 0x40, 5, 1),
                event(3, Kmalloc, 0x10000, 8, kib),
                event(4, Kfree, 0x10000, 9, 1),
                event(5, Kmalloc, 0x10000, 7, kib),
                event(6, Kmalloc, 0x10000, 8, kib),
            ];
            assert_eq!(left(&events), [(2, 5), (3, 8), (4, 9), (6, 8)], "{kib} KiB");
        }
    }

    #[test]
    fn blocks_that_only_look_alike_stay() {
        use Kind::{Kfree, Kmalloc};
        let first = event(1, Kmalloc, 0x10000, 7, 64);
        let second = event(2, Kmalloc, 0x10000, 8, 64);
        let stay = |second: RawEvent| left(&[first, second]).len() == 2;
        assert!(!stay(second));
        assert!(stay(RawEvent { cpu: 1, ..second }) && stay(RawEvent { pid: 1, ..second }));
        assert!(stay(RawEvent { site: 7, ..second }) && stay(RawEvent { bytes_req: 1, ..second }));
        assert!(stay(RawEvent { ptr: 0x20000, ..second }));
        assert!(stay(RawEvent { time_ns: 2 + WAIT_NS, ..second }), "so late it is another block");
        let freed = [first, event(2, Kfree, 0x10000, 9, 1), RawEvent { time_ns: 3, ..second }];
        assert_eq!(left(&freed).len(), 3);
        let in_slabs = [event(1, Kmalloc, 8, 7, 8), event(2, Kmalloc, 8, 8, 8)];
        assert_eq!(left(&in_slabs).len(), 2);
    }

    #[test]
    fn memory_is_bounded_while_a_block_waits() {
        let small = (0..100_000).map(|i| event(2, Kind::Kmalloc, 64 * i + 64, 5, 1));
        let events: Vec<_> =
            [event(1, Kind::Kmalloc, 0xf0_0000, 7, 64)].into_iter().chain(small).collect();
        let all = left(&events);
        assert_eq!((all.len(), all[0]), (100_001, (1, 7)));
    }
}
