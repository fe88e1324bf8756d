//! A moment in the making: its entries, and what stands above it.

use std::hash::{DefaultHasher, Hash, Hasher};

use hashbrown::HashTable;

use crate::entry::Entry;
use crate::heading::Heading;
use crate::rows::Kind;
use crate::stamp::Stamp;

/// What stands above a moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Above {
    /// The lines above it, and the words before its rows
    pub(crate) heading: Heading,
    /// How many boots of the machine the text tells of before it
    pub(crate) boot: u32,
    /// The text has read slabinfo of memory cgroups before it
    pub(crate) is_of_cgroups: bool,
    /// It is a side of a comparison, with the parts that differ
    pub(crate) is_side: bool,
    /// How many quote marks stand before its rows
    pub(crate) quotes: usize,
}

/// A moment in the making.
#[derive(Debug, Default)]
pub(crate) struct GrowingMoment {
    pub(crate) stamp: Option<Stamp>,
    pub(crate) above: Above,
    pub(crate) entries: Vec<Entry>,
    /// Where the entries are, by their keys; of a hundred thousand entries, so that no key is kept twice
    pub(crate) places: HashTable<u32>,
    /// It began at a heading or a time, and may be the rest of the moment before
    pub(crate) is_tentative: bool,
    /// Rows whose names the moment before has, too
    pub(crate) repeats: usize,
    /// A heading or a time is above it
    pub(crate) is_below: bool,
    /// A heading is
    pub(crate) is_headed: bool,
    /// None of its rows could be read
    pub(crate) is_lost: bool,
}

/// What a second row of the same name is.
pub(crate) enum Again {
    /// Another moment
    Moment,
    /// More of the same entry
    More,
    /// Further numbers of it
    Numbers,
}

impl Again {
    pub(crate) fn of(kind: Kind) -> Self {
        match kind {
            // A line of the source may have several tags, a stack several objects.
            Kind::Allocinfo | Kind::Kmemleak | Kind::PageOwner | Kind::Memleak => Self::More,
            Kind::AllocTraces | Kind::PerfKmem => Self::More,
            Kind::Prometheus => Self::Numbers,
            _ => Self::Moment,
        }
    }
}

impl GrowingMoment {
    /// Returns whether a time stands above it, or before its first row.
    pub(crate) fn has_time(&self) -> bool {
        self.stamp.is_some()
    }

    /// Returns where an entry of this key is.
    pub(crate) fn place(&self, entry: &Entry) -> Option<usize> {
        let is_it = |at: &u32| self.entries[*at as usize].key() == entry.key();
        self.places.find(hash(entry), is_it).map(|at| *at as usize)
    }

    fn push(&mut self, entry: Entry) {
        // Entries beyond four billion are not found again.
        if let (None, Ok(at)) = (self.place(&entry), u32::try_from(self.entries.len())) {
            let entries = &self.entries;
            self.places.insert_unique(hash(&entry), at, |at| hash(&entries[*at as usize]));
        }
        self.entries.push(entry);
    }

    pub(crate) fn take(&mut self, kind: Kind, entry: Entry) {
        let Some(at) = self.place(&entry) else {
            self.push(entry);
            return;
        };
        let known = &mut self.entries[at];
        match Again::of(kind) {
            Again::Numbers => {
                known.objects = known.objects.or(entry.objects);
                known.slots = known.slots.or(entry.slots);
                known.object_bytes = known.object_bytes.or(entry.object_bytes);
                known.slabs = known.slabs.or(entry.slabs);
                known.pages_per_slab = known.pages_per_slab.or(entry.pages_per_slab);
            }
            Again::More | Again::Moment => known.add(&entry),
        }
    }
}

pub(crate) fn hash(entry: &Entry) -> u64 {
    let mut hasher = DefaultHasher::new();
    entry.key().hash(&mut hasher);
    hasher.finish()
}
