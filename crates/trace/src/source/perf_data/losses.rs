//! How many events a `perf.data` lacks, by CPU.
//!
//! # How it works
//! The kernel puts a LOST record into the ring buffer where it lost events. At the end perf adds a
//! LOST_SAMPLES record with the total of each event and CPU (since 6.1). Both count the same losses. The first kind
//! misses losses without a later event, and older perfs do not write the second. So both are added up, and the
//! greater is right.
//!
//! Where other events than kmem's were recorded beside, only the totals tell whose the losses are: a gap's id is that of the
//! event that came after it. Then totals of kmem's events alone count, if there are totals.

use rustc_hash::FxHashMap;
use slablab_linux::CPUS_MAX;

use super::header::{Header, trailer_id};
use crate::source::bytes::Bytes;

/// Losses counted so far.
#[derive(Debug, Default)]
pub(super) struct Losses {
    gaps: Vec<u64>,
    totals: Vec<u64>,
    /// Totals of events that were recorded by thread and belong to no single CPU.
    totals_anywhere: u64,
    /// Whether there are totals, of any event.
    is_totalled: bool,
    /// The CPU that an id of samples stands for.
    cpu_of: FxHashMap<u64, u32>,
}

impl Losses {
    /// Takes a LOST record: an id and a count, and the CPU behind them.
    pub(super) fn gap(&mut self, header: &Header, body: &[u8]) {
        let count = body.get(8..).and_then(|rest| Bytes(rest).u64()).unwrap_or(0);
        let cpu = self.cpu(header, body).unwrap_or(0);
        add(&mut self.gaps, cpu, count);
    }

    /// Takes a LOST_SAMPLES record: a count, and whose it is behind it.
    pub(super) fn total(&mut self, header: &Header, body: &[u8]) {
        self.is_totalled = true;
        let index = trailer_id(body).and_then(|id| header.attr_of.get(&id));
        if index.is_some_and(|index| header.is_other(*index)) {
            return;
        }
        let count = Bytes(body).u64().unwrap_or(0);
        // The CPU that it names is not that of an event: perf made the record when it ended.
        match self.indexed_cpu(body) {
            Some(cpu) => add(&mut self.totals, cpu, count),
            None => self.totals_anywhere = self.totals_anywhere.saturating_add(count),
        }
    }

    /// Takes an ID_INDEX record, which tells the CPU of each id.
    pub(super) fn index(&mut self, mut bytes: Bytes<'_>) -> Option<()> {
        for _ in 0..bytes.u64()? {
            let id = bytes.u64()?;
            bytes.skip(8)?; // index
            self.cpu_of.insert(id, u32::try_from(bytes.u64()?).unwrap_or(u32::MAX));
            bytes.skip(8)?; // thread
        }
        Some(())
    }

    pub(super) fn by_cpu(&self, header: &Header) -> Vec<u64> {
        let of = |counts: &[u64], cpu: usize| counts.get(cpu).copied().unwrap_or(0);
        let tell = !(self.is_totalled && header.has_others());
        let gaps = if tell { &self.gaps[..] } else { &[] };
        let cpus = gaps.len().max(self.totals.len());
        let mut lost: Vec<u64> =
            (0..cpus).map(|cpu| of(gaps, cpu).max(of(&self.totals, cpu))).collect();
        // What no CPU is known for may be in the gaps already.
        let sum = |counts: &[u64]| counts.iter().fold(0, |sum: u64, n| sum.saturating_add(*n));
        let total = sum(&self.totals).saturating_add(self.totals_anywhere);
        let missing = total.saturating_sub(sum(&lost));
        if missing > 0 {
            add(&mut lost, 0, missing);
        }
        lost
    }

    /// Returns the CPU that a record is of: by the id at its end, else by the CPU that it names.
    fn cpu(&self, header: &Header, body: &[u8]) -> Option<u32> {
        let told = || header.attr_of_record(body)?.trailer_cpu(body);
        self.indexed_cpu(body).or_else(|| told().filter(|&cpu| cpu < CPUS_MAX))
    }

    /// Returns the CPU that the id at a record's end is of; none for events recorded by thread.
    fn indexed_cpu(&self, body: &[u8]) -> Option<u32> {
        self.cpu_of.get(&trailer_id(body)?).copied().filter(|&cpu| cpu < CPUS_MAX)
    }
}

fn add(counts: &mut Vec<u64>, cpu: u32, count: u64) {
    let cpu = cpu as usize;
    counts.resize(counts.len().max(cpu + 1), 0);
    counts[cpu] = counts[cpu].saturating_add(count);
}

#[cfg(test)]
mod tests {
    use super::super::attr::Attr;
    use super::*;

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn gaps_and_totals_of_the_same_losses_count_once() {
        let (header, mut losses) = (Header::default(), Losses::default());
        losses.index(Bytes(&words(&[2, 33, 0, 0, 7, 34, 1, 1, 7]))).unwrap();
        losses.gap(&header, &words(&[1, 100, 33]));
        losses.gap(&header, &words(&[1, 50, 34]));
        losses.total(&header, &words(&[70, 33]));
        losses.total(&header, &words(&[90, 34]));
        assert_eq!(losses.by_cpu(&header), [100, 90]);
    }

    #[test]
    fn totals_of_no_cpu_are_those_of_the_gaps() {
        let (header, mut losses) = (Header::default(), Losses::default());
        losses.index(Bytes(&words(&[1, 33, 0, u64::MAX, 7]))).unwrap();
        losses.gap(&header, &words(&[1, 60, 33]));
        losses.total(&header, &words(&[40, 33]));
        losses.total(&header, &words(&[25, 33]));
        assert_eq!(losses.by_cpu(&header), [65]);
    }

    /// Losses of a busy event that was recorded beside used to count as slab events.
    #[test]
    fn losses_of_other_events_are_not_those_of_kmem() {
        let mut header = Header { kmem: vec![300], ..Header::default() };
        let attr = |config| {
            let mut attr = Attr::default();
            (attr.tracepoint, attr.config) = (true, config);
            attr
        };
        header.attr(attr(300), &words(&[33]));
        header.attr(attr(77), &words(&[34]));
        let mut losses = Losses::default();
        losses.gap(&header, &words(&[1, 5_000, 33]));
        assert_eq!(losses.by_cpu(&header), [5_000], "whose they are nobody says");
        losses.total(&header, &words(&[4_990, 34]));
        losses.total(&header, &words(&[10, 33]));
        assert_eq!(losses.by_cpu(&header), [10]);
    }
}
