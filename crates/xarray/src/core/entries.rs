//! The iterator over an array's entries.
//!
//! # How it works
//! The first step goes down from the head, as a search does, and the next ones stay in the leaf or bucket found, until
//! it has no more. A bucket is put in order once, because looking for each next key took six times as long. A bucket
//! that a writer replaces meanwhile lives as long as the section, and its entries count as earlier ones.

use super::find::{Found, Leaf, Search, next_in_leaf};
use crate::raw::bucket::CAPACITY_MAX;
use crate::raw::{Bucket, Dense, Pin};
use crate::{ArrayBody, Entry};

/// An iterator over entries with their first indices.
#[derive(Debug)]
pub struct Entries<'g> {
    array: &'g ArrayBody,
    next: Option<u64>,
    search: Search,
    pin: Pin<'g>,
    rest: Rest<'g>,
    /// The order of the bucket's slots.
    order: [u8; CAPACITY_MAX],
}

/// The rest of the leaf or bucket where the last entry was found.
#[derive(Debug)]
enum Rest<'g> {
    None,
    Dense(&'g Dense),
    /// The bucket, the place of the next slot in its order, and the slot before that one.
    Bucket(Bucket<'g>, usize, usize),
}

impl<'g> Entries<'g> {
    pub(super) fn new(array: &'g ArrayBody, from: u64, search: Search, pin: Pin<'g>) -> Self {
        let (next, rest, order) = (Some(from), Rest::None, [0; CAPACITY_MAX]);
        Self { array, next, search, pin, rest, order }
    }

    #[inline]
    fn next_in_rest(&mut self, from: u64) -> Option<Found> {
        match &mut self.rest {
            Rest::None => None,
            Rest::Dense(node) if node.covers(from) => {
                next_in_leaf(node, node.digit(from), self.search)
            }
            Rest::Dense(_) => None,
            Rest::Bucket(bucket, at, len) => {
                let candidates = self.search.bucket_candidates(*bucket).unwrap_or(u128::MAX);
                while at < len {
                    let number = usize::from(self.order[*at]);
                    *at += 1;
                    let (index, entry) = (bucket.index(number), bucket.slot(number).entry());
                    if index >= from && candidates >> number & 1 != 0 && self.search.accepts(entry)
                    {
                        return Some(Found { entry, first: index, last: index });
                    }
                }
                None
            }
        }
    }

    fn descend(&mut self, from: u64) -> Option<Found> {
        let (found, leaf) = self.array.next_with_leaf(from, self.search, self.pin)?;
        self.rest = match leaf {
            Leaf::None => Rest::None,
            Leaf::Dense(node) => Rest::Dense(node),
            Leaf::Bucket(bucket) => {
                let (order, len) = bucket.in_order();
                self.order = order;
                Rest::Bucket(bucket, 0, len)
            }
        };
        Some(found)
    }
}

impl Iterator for Entries<'_> {
    type Item = (u64, Entry);

    #[inline]
    fn next(&mut self) -> Option<(u64, Entry)> {
        let from = self.next?;
        let found = match self.next_in_rest(from) {
            Some(found) => self.search.within(Some((found, ()))).map(|(found, ())| found),
            None => self.descend(from),
        };
        self.next = found.and_then(|found| found.last.checked_add(1));
        found.map(|found| (found.first.max(from), found.entry))
    }
}
