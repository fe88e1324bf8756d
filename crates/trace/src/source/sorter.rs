//! Puts events in order of time where any may come after a later one, in bounded memory.
//!
//! # How it works
//! Events are collected into *runs* of [`RUN_EVENTS`], each is sorted and stored in a nameless
//! file, and the runs are merged. A run is read a block at a time, from when its first event is due, so that
//! of a recording in order one block is in memory. What fits one run stays in memory.
//!
//! # Invariants
//! Events at the same time keep their order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use crate::spool::{Block, Spool};
use crate::{Error, RawEvent};

/// Events sorted at once: 16 MiB.
const RUN_EVENTS: usize = 256 << 10;

/// Events in a block: all runs may have one in memory.
const BLOCK_EVENTS: usize = 1 << 10;

/// Events given out at once.
const CHUNK_EVENTS: usize = 4096;

/// An event that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticket {
    run: usize,
    place: usize,
}

/// Takes events in any order, then gives them in order of time.
#[derive(Debug)]
pub(super) struct Sorter {
    path: PathBuf,
    run_events: usize,
    /// The run that is collected.
    events: Vec<RawEvent>,
    spool: Option<Spool>,
    runs: Vec<Run>,
    /// When merging: the next event of each run that has any, by time and run.
    due: BinaryHeap<Reverse<(u64, usize)>>,
    latest_ns: FxHashMap<u32, u64>,
    /// Events that came before an earlier one of the same CPU.
    pub(super) disordered: u64,
}

#[derive(Debug, Default)]
struct Run {
    first_ns: u64,
    /// The blocks that are not read yet, the next one last.
    blocks: Vec<Block>,
    /// What is read, and how much of it was given out.
    events: Vec<RawEvent>,
    next: usize,
}

impl Sorter {
    /// `path` is what errors name.
    pub(super) fn new(path: &Path) -> Sorter {
        Sorter {
            path: path.into(),
            run_events: RUN_EVENTS,
            events: Vec::new(),
            spool: None,
            runs: Vec::new(),
            due: BinaryHeap::new(),
            latest_ns: FxHashMap::default(),
            disordered: 0,
        }
    }

    /// Takes an event; its ticket is good until a run of events is full and stored.
    pub(super) fn push(&mut self, event: RawEvent) -> Result<Ticket, Error> {
        let ticket = Ticket { run: self.runs.len(), place: self.events.len() };
        let latest_ns = self.latest_ns.entry(event.cpu).or_insert(0);
        self.disordered += u64::from(event.time_ns < *latest_ns);
        *latest_ns = event.time_ns.max(*latest_ns);
        self.events.push(event);
        if self.events.len() < self.run_events {
            return Ok(ticket);
        }
        self.events.sort_by_key(|event| event.time_ns);
        let spool = match &mut self.spool {
            Some(spool) => spool,
            none => none.insert(Spool::create(&std::env::temp_dir())?),
        };
        let blocks = self.events.chunks(BLOCK_EVENTS).map(|events| spool.write(events, &self.path));
        let mut blocks = blocks.collect::<Result<Vec<_>, _>>()?;
        blocks.reverse();
        self.runs.push(Run { first_ns: self.events[0].time_ns, blocks, ..Run::default() });
        self.events.clear();
        Ok(ticket)
    }

    /// Gives an event its stack; returns whether its ticket was good.
    pub(super) fn set_stack(&mut self, ticket: Ticket, stack: u32) -> bool {
        let is_good = ticket.run == self.runs.len();
        let event = self.events.get_mut(ticket.place).filter(|_| is_good);
        event.map(|event| event.stack = stack).is_some()
    }

    /// Ends the collecting: [`Sorter::take`] may be called.
    pub(super) fn finish(&mut self) {
        let mut events = std::mem::take(&mut self.events);
        events.sort_by_key(|event| event.time_ns);
        if let Some(first) = events.first() {
            self.runs.push(Run { first_ns: first.time_ns, events, ..Run::default() });
        }
        let runs = self.runs.iter().enumerate();
        self.due = runs.map(|(index, run)| Reverse((run.first_ns, index))).collect();
    }

    /// Appends the next events; returns false when there are none.
    pub(super) fn take(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
        let before = to.len();
        while to.len() - before < CHUNK_EVENTS {
            let Some(Reverse((_, index))) = self.due.pop() else { break };
            let until = self.due.peek().map_or((u64::MAX, usize::MAX), |Reverse(key)| *key);
            let run = &mut self.runs[index];
            if run.next == run.events.len()
                && let Some(block) = run.blocks.pop()
                && let Some(spool) = &self.spool
            {
                spool.read(block, &mut run.events, &self.path)?;
                run.next = 0;
            }
            let rest = run.events[run.next..].iter().take(CHUNK_EVENTS);
            let ready = rest.take_while(|event| (event.time_ns, index) < until).count();
            to.extend_from_slice(&run.events[run.next..run.next + ready]);
            run.next += ready;
            match run.events.get(run.next) {
                Some(event) => self.due.push(Reverse((event.time_ns, index))),
                // The next block begins no earlier than this one ends.
                None if !run.blocks.is_empty() => {
                    let last_ns = run.events.last().map_or(run.first_ns, |event| event.time_ns);
                    self.due.push(Reverse((last_ns, index)));
                }
                None => run.events = Vec::new(),
            }
        }
        Ok(to.len() > before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(time_ns: u64, pid: u32) -> RawEvent {
        RawEvent { time_ns, pid, ..RawEvent::EMPTY }
    }

    fn sorted(times_ns: &[u64], run_events: usize) -> (Vec<(u64, u32)>, u64) {
        let mut sorter = Sorter { run_events, ..Sorter::new(Path::new("test")) };
        for (pid, &time_ns) in times_ns.iter().enumerate() {
            sorter.push(event(time_ns, pid as u32)).unwrap();
        }
        sorter.finish();
        let mut events = Vec::new();
        while sorter.take(&mut events).unwrap() {}
        (events.iter().map(|event| (event.time_ns, event.pid)).collect(), sorter.disordered)
    }

    #[test]
    fn runs_in_a_file_give_what_sorting_in_memory_gives() {
        let order = |number: u64| number;
        let backwards = |number: u64| 30_000 - number;
        let mixed = |number: u64| number / 100 + number * 7919 % 300;
        let alike = |_: u64| 7;
        for time_ns in [order, backwards, mixed, alike] {
            let times_ns: Vec<u64> = (0..20_000).map(time_ns).collect();
            let mut expected: Vec<_> = times_ns.iter().copied().zip(0..).collect();
            expected.sort_by_key(|&(time_ns, _)| time_ns);
            let (in_memory, disordered) = sorted(&times_ns, RUN_EVENTS);
            assert_eq!(in_memory, expected);
            for run_events in [1500, 5000, 20_000] {
                assert!(sorted(&times_ns, run_events) == (expected.clone(), disordered));
            }
        }
        assert_eq!(sorted(&[], 10), (vec![], 0));
        assert_eq!(sorted(&[3, 1, 2], 10), (vec![(1, 1), (2, 2), (3, 0)], 2));
    }
}
