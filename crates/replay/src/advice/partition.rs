//! Finds out which rows of a trace belong to which kmalloc class, once for all trials.
//!
//! # How it works
//! An allocation tells its size, a free only its object, so the class of every live object is kept, by
//! its slot. Within its class an object gets a number of its own, reusing a free one if possible. A trial of one
//! class then needs memory for that class's live objects, not for the trace's.
//!
//! # Invariants
//! An object's class and number are the same from its allocation to its free, and no other live object
//! has both.

use std::sync::Arc;

use slablab_trace::{Batch, Kind, NONE};

use crate::engine::runner::OwnRow;
use crate::metrics::requests::{ClassSet, Classes};
use crate::slots::Slots;

/// A batch with the rows of each class.
#[derive(Debug)]
pub(crate) struct PartitionedBatch {
    pub(crate) batch: Arc<Batch>,
    /// By class: its rows, rising, with the numbers of their objects in the class
    rows: Vec<Vec<OwnRow>>,
}

impl PartitionedBatch {
    /// Returns the rows of objects of `classes`, rising, with their numbers among these objects.
    pub(crate) fn rows(&self, classes: ClassSet) -> Vec<OwnRow> {
        let count = classes.len();
        let of_class = |(rank, class): (usize, u32)| {
            let rows = self.rows[class as usize].iter();
            rows.map(move |own| OwnRow { number: own.number * count + rank, ..*own })
        };
        let mut rows: Vec<_> = (0..).zip(classes.iter()).flat_map(of_class).collect();
        if count > 1 {
            rows.sort_unstable_by_key(|own| own.row);
        }
        rows
    }
}

/// Follows the live objects of kmalloc, in the order of the trace.
#[derive(Debug)]
pub(crate) struct Partition<'a> {
    classes: &'a Classes,
    /// By slot: the class and number of the live object
    live: Slots<Option<(u8, u32)>>,
    /// By class: the numbers that are free again, and the first that was never taken
    numbers: Vec<(Vec<u32>, u32)>,
}

impl<'a> Partition<'a> {
    /// Begins a trace of `rows` rows.
    pub(crate) fn new(classes: &'a Classes, rows: u64) -> Self {
        let numbers = (0..classes.len()).map(|_| (Vec::new(), 0)).collect();
        Self { classes, live: Slots::new(rows), numbers }
    }

    /// Finds the classes and numbers of the next batch's rows.
    pub(crate) fn batch(&mut self, batch: Arc<Batch>) -> PartitionedBatch {
        let mut rows = vec![Vec::new(); self.classes.len()];
        for row in 0..batch.len() {
            if let Some((class, number)) = self.row(&batch, row) {
                rows[usize::from(class)].push(OwnRow { row: row as u32, number: number as usize });
            }
        }
        PartitionedBatch { batch, rows }
    }

    fn row(&mut self, batch: &Batch, row: usize) -> Option<(u8, u32)> {
        let (object, kind) = (batch.object[row], batch.kind[row]);
        let slot = Some(object as usize).filter(|_| object != NONE)?;
        let before = self.live.get_mut(slot).and_then(Option::take);
        if let Some((class, number)) = before {
            self.numbers[usize::from(class)].0.push(number);
        }
        // In a whole replay, an allocation that names no cache is kmalloc's.
        let unnamed = kind == Kind::KmemCacheAlloc && batch.cache[row] == NONE;
        if kind != Kind::Kmalloc && !unnamed {
            return before.filter(|_| !kind.is_alloc());
        }
        let class = self.classes.of(batch.bytes_req[row])?;
        let (free, next) = &mut self.numbers[class as usize];
        let number = free.pop().unwrap_or_else(|| {
            *next += 1;
            *next - 1
        });
        *self.live.entry(slot) = Some((class as u8, number));
        Some((class as u8, number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slablab_trace::Event;

    fn row(kind: Kind, object: u32, bytes_req: u64) -> Event {
        let cache = if kind == Kind::KmemCacheAlloc { 0 } else { NONE };
        Event { kind, object, cache, bytes_req, bytes_alloc: bytes_req, ..Event::EMPTY }
    }

    /// A whole replay takes them from kmalloc, so `advise` and `whatif` used to save differently.
    #[test]
    fn what_names_no_cache_is_one_of_kmallocs() {
        let classes = Classes::new(&[8, 16, 32, 64]);
        let named = row(Kind::KmemCacheAlloc, 1, 60);
        let rows =
            [named, Event { object: 2, cache: NONE, ..named }, row(Kind::KmemCacheFree, 2, 0)];
        let mut batch = Batch::default();
        rows.iter().for_each(|row| batch.push(row));
        let part = Partition::new(&classes, 3).batch(Arc::new(batch));
        let mut set = ClassSet::default();
        set.add(3);
        assert_eq!(part.rows(set), [1, 2].map(|row| OwnRow { row, number: 0 }));
    }

    #[test]
    fn objects_are_numbered_by_class_from_their_allocation_to_their_free() {
        let classes = Classes::new(&[8, 16, 32, 64]);
        let rows = [
            row(Kind::Kmalloc, 7, 20),
            row(Kind::Kmalloc, 3, 60),
            row(Kind::Kmalloc, 4, 30),
            row(Kind::KmemCacheAlloc, 5, 30),
            row(Kind::Kfree, 7, 0),
            row(Kind::Kfree, NONE, 0),
            row(Kind::Kmalloc, 6, 25),
            row(Kind::ImplicitFree, 4, 0),
        ];
        let mut batch = Batch::default();
        rows.iter().for_each(|row| batch.push(row));
        let part = Partition::new(&classes, 8).batch(Arc::new(batch));
        let of = |list: &[u32]| {
            let mut set = ClassSet::default();
            list.iter().for_each(|class| set.add(*class));
            let mut numbers = vec![None; rows.len()];
            part.rows(set).iter().for_each(|own| numbers[own.row as usize] = Some(own.number));
            assert!(part.rows(set).is_sorted_by_key(|own| own.row));
            numbers
        };
        assert_eq!(of(&[2]), [Some(0), None, Some(1), None, Some(0), None, Some(0), Some(1)]);
        assert_eq!(of(&[3]), [None, Some(0), None, None, None, None, None, None]);
        // Numbers of two classes do not meet.
        let both = [Some(0), Some(1), Some(2), None, Some(0), None, Some(0), Some(2)];
        assert_eq!(of(&[2, 3]), both);
    }
}
