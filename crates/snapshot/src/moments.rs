//! Where one moment of a table ends and the next begins.
//!
//! # How it works
//! A moment ends where a cache is named again, and may end at a heading or a time. What follows there is a moment of its own
//! if it names again what was named before. Else it is the same moment, since in a sorted list the heading lies anywhere.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::entry::{Entry, Moment};
use crate::paste::{Table, keep_rising_times};
use crate::rows::Kind;
use crate::stamp::{Clock, Stamp};

/// Bytes of a page, in which node_exporter's numbers count.
const PAGE_BYTES: u64 = 4 << 10;

/// A table in the making.
#[derive(Debug, Default)]
pub(crate) struct Growing {
    rows: u64,
    pub(crate) has_heading: bool,
    /// A heading or a time was seen since the last row
    pub(crate) at_boundary: bool,
    moments: Vec<GrowingMoment>,
}

#[derive(Debug, Default)]
struct GrowingMoment {
    stamp: Option<Stamp>,
    entries: Vec<Entry>,
    /// Where the entries are, by a number that is made of their keys, or the next free one
    places: HashMap<u64, usize>,
    /// It began at a heading or a time, and may be the rest of the moment before
    is_tentative: bool,
    /// It names something that the moment before names
    repeats: bool,
}

/// What a second row of the same name is.
enum Again {
    /// Another moment
    Moment,
    /// More of the same entry
    More,
    /// Further numbers of it
    Numbers,
}

impl Again {
    fn of(kind: Kind) -> Self {
        match kind {
            // A line of the source may have several tags, a stack several objects.
            Kind::Allocinfo | Kind::Kmemleak | Kind::PageOwner | Kind::Memleak => Self::More,
            Kind::AllocTraces | Kind::PerfKmem => Self::More,
            Kind::Prometheus => Self::Numbers,
            _ => Self::Moment,
        }
    }
}

impl Growing {
    pub(crate) fn add(&mut self, kind: Kind, entry: Entry, stamp: Option<Stamp>) {
        let begins = self.moments.last().is_none_or(|moment| {
            let again = moment.place(&entry).ok().map(|at| &moment.entries[at]);
            match (again, Again::of(kind)) {
                _ if self.at_boundary => !moment.entries.is_empty(),
                (None, _) | (Some(_), Again::More) => false,
                (Some(_), Again::Moment) => true,
                (Some(known), Again::Numbers) => overlap(known, &entry),
            }
        });
        if begins {
            self.settle();
            let is_tentative = self.at_boundary && !self.moments.is_empty();
            self.moments.push(GrowingMoment { stamp, is_tentative, ..GrowingMoment::default() });
        }
        self.at_boundary = false;
        self.rows += 1;
        let repeats = match &self.moments[..] {
            [.., before, _] => before.place(&entry).is_ok(),
            _ => false,
        };
        let moment = self.moments.last_mut().expect("one was begun");
        moment.repeats |= repeats;
        moment.take(kind, entry);
    }

    /// Puts a moment that names nothing again to the one before.
    fn settle(&mut self) {
        let is_rest =
            self.moments.last().is_some_and(|moment| moment.is_tentative && !moment.repeats);
        if !is_rest || self.moments.len() < 2 {
            return;
        }
        let rest = self.moments.pop().expect("two at least");
        let before = self.moments.last_mut().expect("two at least");
        rest.entries.into_iter().for_each(|entry| before.push(entry));
    }

    pub(crate) fn finish(mut self, kind: Kind) -> Option<Table> {
        self.settle();
        if self.moments.is_empty() {
            return None;
        }
        let clock = |moment: &GrowingMoment| moment.stamp.map(|stamp| stamp.clock);
        let first: Option<Clock> = self.moments.first().and_then(clock);
        let is_timed = first.is_some() && self.moments.iter().all(|moment| clock(moment) == first);
        let moment = |moment: GrowingMoment| Moment {
            time_seconds: moment.stamp.filter(|_| is_timed).map(|stamp| stamp.seconds),
            entries: match kind {
                Kind::Prometheus => moment.entries.into_iter().map(of_exporter).collect(),
                _ => moment.entries,
            },
        };
        let mut moments: Vec<Moment> = self.moments.into_iter().map(moment).collect();
        keep_rising_times(&mut moments);
        let may_be_cut = kind.has_heading() && !self.has_heading;
        Some(Table { kind, rows: self.rows, may_be_cut, moments })
    }
}

impl GrowingMoment {
    /// Returns where an entry of this key is, or else the number under which it may be put.
    fn place(&self, entry: &Entry) -> Result<usize, u64> {
        let mut hasher = DefaultHasher::new();
        entry.key().hash(&mut hasher);
        let mut number = hasher.finish();
        while let Some(&at) = self.places.get(&number) {
            if self.entries[at].key() == entry.key() {
                return Ok(at);
            }
            number = number.wrapping_add(1);
        }
        Err(number)
    }

    fn push(&mut self, entry: Entry) {
        if let Err(number) = self.place(&entry) {
            self.places.insert(number, self.entries.len());
        }
        self.entries.push(entry);
    }

    fn take(&mut self, kind: Kind, entry: Entry) {
        let Ok(at) = self.place(&entry) else {
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

/// Returns whether two rows of node_exporter have the same number.
fn overlap(a: &Entry, b: &Entry) -> bool {
    let fields = |e: &Entry| [e.objects, e.slots, e.object_bytes, e.slabs, e.pages_per_slab];
    fields(a).iter().zip(fields(b)).any(|(a, b)| a.is_some() && b.is_some())
}

/// Makes slabs of the objects in a slab, which node_exporter gives.
fn of_exporter(mut entry: Entry) -> Entry {
    let per_slab = entry.slabs.take().filter(|per_slab| *per_slab > 0);
    entry.slabs = entry.slots.zip(per_slab).map(|(slots, per_slab)| slots.div_ceil(per_slab));
    let bytes = |slabs: u64, pages: u64| slabs.checked_mul(pages)?.checked_mul(PAGE_BYTES);
    entry.slab_bytes =
        entry.slabs.zip(entry.pages_per_slab).and_then(|(slabs, pages)| bytes(slabs, pages));
    entry
}
