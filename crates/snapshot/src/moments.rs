//! Where one moment of a table ends and the next begins.
//!
//! # How it works
//! A moment ends where a cache is named again, and may end at a heading or a time. What follows there is a moment of its own
//! if it names again what was named before. Else it is the same moment, since in a sorted list the heading lies anywhere. What
//! only all rows tell, such as caches of one name below one heading, `lists` mends at the end.

use std::cmp::{Ordering, Reverse};

use crate::entry::{Entry, Moment};
use crate::heading::Differing;
use crate::lists;
use crate::moment::{Above, Again, GrowingMoment, hash};
use crate::paste::{Table, order_by_time};
use crate::rows::{Kind, memory_stat};
use crate::stamp::{Clock, Stamp};

/// With fewer rows above it, a row that names a cache again is of another moment.
const TWIN_ROWS_MIN: usize = 8;

/// Bytes of a page, in which node_exporter's numbers count.
const PAGE_BYTES: u64 = 4 << 10;

/// A table in the making.
#[derive(Debug, Default)]
pub(crate) struct Growing {
    rows: u64,
    pub(crate) has_heading: bool,
    /// A heading or a time was seen since the last row
    at_boundary: bool,
    /// A heading was
    at_heading: bool,
    /// A list of slabtop named a cache again: letters in what is left of its name
    cut_chars: Option<usize>,
    /// Rows since the last heading could not be read
    has_damage: bool,
    /// When that heading was
    heading: Option<Stamp>,
    /// A line says that rows are left out
    is_cut: bool,
    moments: Vec<GrowingMoment>,
}

impl Growing {
    /// Takes a heading or a time: what follows may be another moment.
    pub(crate) fn boundary(&mut self) {
        self.at_boundary = true;
    }

    /// Takes a blank line, or one besides the rows: entries of some kinds have such lines among them.
    pub(crate) fn gap(&mut self, kind: Kind) {
        self.at_boundary |= matches!(Again::of(kind), Again::Moment);
    }

    /// Takes the heading of a moment.
    pub(crate) fn heading(&mut self, kind: Kind, stamp: Option<Stamp>) {
        self.end_lost(kind);
        self.heading = stamp;
        (self.has_heading, self.at_heading) = (true, true);
        self.boundary();
    }

    /// Takes a line that says that rows are left out.
    pub(crate) fn omit(&mut self) {
        self.is_cut = true;
    }

    /// Takes a row that could not be read.
    pub(crate) fn damage(&mut self) {
        self.has_damage = true;
    }

    /// Keeps the place of a moment without a readable row, so that those behind it keep theirs.
    fn end_lost(&mut self, kind: Kind) {
        if self.has_heading && self.at_boundary && self.has_damage {
            self.settle(kind);
            let stamp = self.heading;
            self.moments.push(GrowingMoment { stamp, is_lost: true, ..GrowingMoment::default() });
        }
        self.has_damage = false;
    }

    /// Gives each entry of all moments to `change`, which keeps its key.
    pub(crate) fn each_entry(&mut self, change: impl Fn(&mut Entry)) {
        self.moments.iter_mut().flat_map(|moment| &mut moment.entries).for_each(change);
    }

    /// Takes the time of the row that came last, where it stands behind the row.
    pub(crate) fn late(&mut self, stamp: Stamp) {
        let of_first = self.moments.last_mut().filter(|moment| moment.stamp.is_none());
        if let Some(moment) = of_first {
            moment.stamp = Some(stamp);
        }
    }

    /// Takes a row, which stands below `above` if it begins a moment.
    pub(crate) fn add(&mut self, kind: Kind, entry: Entry, stamp: Option<Stamp>, above: &Above) {
        let begins = self.moments.last().is_none_or(|moment| {
            let place = moment.place(&entry);
            let again = place.map(|at| &moment.entries[at]);
            // Two mounts may have a cache of one name each, in rows one below the other.
            let is_twin =
                place.is_some_and(|at| at + 1 == moment.entries.len() && at >= TWIN_ROWS_MIN);
            match (again, Again::of(kind)) {
                (Some(_), Again::Moment) if is_twin && !self.at_boundary => false,
                // slabtop has a head above each list, and names no cache twice: the terminal cut names.
                (Some(cut), Again::Moment)
                    if kind == Kind::Slabtop && self.has_heading && !self.at_boundary =>
                {
                    self.cut_chars = self.cut_chars.max(Some(cut.name.chars().count()));
                    false
                }
                _ if moment.is_lost => true,
                _ if self.at_boundary => !moment.entries.is_empty(),
                // A line of the source may have several tags, which are few: `settle` tells them from the next list.
                (Some(_), Again::More) if kind == Kind::Allocinfo => {
                    place.is_some_and(|at| at + 1 < moment.entries.len())
                }
                (None, _) | (Some(_), Again::More) => false,
                (Some(_), Again::Moment) => true,
                (Some(known), Again::Numbers) => overlap(known, &entry),
            }
        });
        if begins {
            self.settle(kind);
            let follows_rows = self.moments.last().is_some_and(|moment| !moment.is_lost);
            // Each interval of memleak lists the stacks that are outstanding then.
            let is_interval = kind == Kind::Memleak && self.at_heading;
            let is_tentative = self.at_boundary && follows_rows && !is_interval;
            let above = above.clone();
            self.moments.push(GrowingMoment {
                stamp,
                above,
                is_tentative,
                is_below: self.at_boundary,
                is_headed: self.at_heading,
                ..GrowingMoment::default()
            });
        }
        (self.at_boundary, self.at_heading, self.has_damage) = (false, false, false);
        self.rows += 1;
        let repeats = match &self.moments[..] {
            [.., before, _] => before.place(&entry).is_some(),
            _ => false,
        };
        let moment = self.moments.last_mut().expect("one was begun");
        moment.repeats += usize::from(repeats);
        moment.take(kind, entry);
    }

    /// Puts a moment that names nothing again to the one before, and so rows of a list that names a cache twice.
    fn settle(&mut self, kind: Kind) {
        let [.., before, last] = &self.moments[..] else { return };
        let first = |moment: &GrowingMoment| moment.entries.first().map(hash);
        // Below one heading several devices may have the same caches, which are few of the list.
        let rows = match before.is_headed {
            true => last.entries.len().max(before.entries.len()),
            false => last.entries.len(),
        };
        let has_twins = !last.is_tentative
            && !last.is_lost
            && !last.is_below
            && !before.is_lost
            && (first(before) != first(last) || kind == Kind::Allocinfo)
            && last.repeats * 2 <= rows;
        let is_rest = last.is_tentative && last.repeats == 0;
        if !is_rest && !has_twins {
            return;
        }
        let rest = self.moments.pop().expect("two at least");
        let before = self.moments.last_mut().expect("two at least");
        rest.entries.into_iter().for_each(|entry| before.take(kind, entry));
    }

    /// Marks the names that a terminal cut, which are as long as those that came twice; returns whether there are any.
    fn mark_cut_names(&mut self) -> bool {
        let Some(chars) = self.cut_chars else { return false };
        let entries = || self.moments.iter().flat_map(|moment| &moment.entries);
        if entries().any(|entry| entry.name.chars().count() > chars) {
            return false;
        }
        self.each_entry(|entry| {
            if entry.name.chars().count() == chars {
                entry.name.push('\u{2026}');
            }
        });
        true
    }

    /// Puts a log of the kernel that has the newest lines first in its order: its clock falls all along.
    fn order_falling_clock(&mut self) {
        const MOMENTS_MIN: usize = 3;
        let clock = |moment: &GrowingMoment| {
            moment.stamp.filter(|stamp| stamp.clock == Clock::Boot).map(|stamp| stamp.seconds)
        };
        let falls = |pair: &[GrowingMoment]| {
            clock(&pair[0]).zip(clock(&pair[1])).is_some_and(|(before, after)| before > after)
        };
        if self.moments.len() >= MOMENTS_MIN && self.moments.windows(2).all(falls) {
            self.moments.reverse();
            self.moments.iter_mut().for_each(|moment| moment.above.boot = 0);
        }
    }

    pub(crate) fn finish(mut self, kind: Kind) -> Option<Table> {
        self.end_lost(kind);
        self.settle(kind);
        if self.moments.iter().all(|moment| moment.is_lost) {
            return None;
        }
        if matches!(Again::of(kind), Again::Moment) {
            lists::join_twins(&mut self.moments, kind);
            lists::turn_groups(&mut self.moments, kind);
        }
        let has_cut_names = self.mark_cut_names();
        let clock = |moment: &GrowingMoment| moment.stamp.map(|stamp| stamp.clock);
        let first: Option<Clock> = self.moments.first().and_then(clock);
        let is_timed = first.is_some() && self.moments.iter().all(|moment| clock(moment) == first);
        let headings = differing_headings(&self.moments);
        if kind == Kind::MemoryStat {
            let moments = self.moments.iter_mut();
            moments.for_each(|moment| memory_stat::without_sum(&mut moment.entries));
        }
        self.order_falling_clock();
        let boots = self.moments.chunk_by(|a, b| a.above.boot == b.above.boot).count();
        let last = self.moments.iter().rfind(|moment| !moment.is_lost);
        if let (2.., Some(boot)) = (boots, last.map(|moment| moment.above.boot)) {
            // What a boot left says nothing of the next.
            self.moments.retain(|moment| moment.above.boot == boot);
        }
        let moment = |moment: GrowingMoment| Moment {
            time_seconds: moment.stamp.filter(|_| is_timed).map(|stamp| stamp.seconds),
            entries: match kind {
                Kind::Prometheus => moment.entries.into_iter().map(of_exporter).collect(),
                _ => moment.entries,
            },
        };
        let quotes: Vec<usize> = self.moments.iter().map(|moment| moment.above.quotes).collect();
        if !is_timed && quotes.iter().any(|marks| *marks != quotes[0]) {
            // Who answers quotes what was written before.
            self.moments.sort_by_key(|moment| Reverse(moment.above.quotes));
        }
        let date = |moment: &GrowingMoment| {
            let stamp = moment.stamp.filter(|stamp| stamp.clock == Clock::Date);
            stamp.map(|stamp| stamp.seconds)
        };
        let has_sides = self.moments.iter().any(|moment| moment.above.is_side);
        if has_sides && self.moments.iter().all(|moment| date(moment).is_some()) {
            self.moments.sort_by(|a, b| date(a).partial_cmp(&date(b)).unwrap_or(Ordering::Equal));
        }
        // The later side of a comparison is the earlier one of the next; who answers quotes what he wrote.
        let may_be_copy = has_sides || quotes.iter().any(|marks| *marks != quotes[0]);
        let mut moments: Vec<Moment> = self.moments.into_iter().map(moment).collect();
        moments.dedup_by(|a, b| may_be_copy && a.entries == b.entries);
        let clock = first.filter(|_| is_timed);
        if clock == Some(Clock::Calendar) {
            unwrap(&mut moments);
        }
        // A moment that was pasted twice is one.
        moments.dedup_by(|a, b| {
            a.time_seconds.is_some() && a.time_seconds == b.time_seconds && a.entries == b.entries
        });
        let times_fall = order_by_time(&mut moments, clock);
        let may_be_cut = self.is_cut || kind.has_heading() && !self.has_heading;
        let earlier_boots = boots - 1;
        let rows = self.rows;
        Some(Table {
            kind,
            host: None,
            rows,
            may_be_cut,
            has_cut_names,
            times_fall,
            clock,
            headings,
            earlier_boots,
            moments,
        })
    }
}

/// Returns what shows by headings that the moments may not be of one machine: two that name machines, or else two words where
/// each moment has a heading of this form.
fn differing_headings(moments: &[GrowingMoment]) -> Option<Differing> {
    let (first, rest) = moments.split_first()?;
    let differs = |a: &GrowingMoment, b: &GrowingMoment| {
        let (one, other) = (&a.above.heading, &b.above.heading);
        let of_cgroups = || (b.above.is_of_cgroups).then(|| one.nearest_differs(other)).flatten();
        one.differs(other).or_else(of_cgroups)
    };
    let pairs = || rest.iter().filter_map(|moment| Some((moment, differs(first, moment)?)));
    if let Some((_, machines)) = pairs().find(|(_, differing)| differing.are_machines) {
        return Some(machines);
    }
    let (other, shown) = pairs().next()?;
    let is_named = |moment: &GrowingMoment| {
        differs(first, moment).is_some() || differs(other, moment).is_some()
    };
    rest.iter().all(is_named).then_some(shown)
}

/// Adds a day where the time of day begins anew, and a year where a date without a year does.
fn unwrap(moments: &mut [Moment]) {
    const DAY_SECONDS: f64 = 86_400.0;
    // Dates without a year are those of a leap year.
    const YEAR_SECONDS: f64 = 366.0 * DAY_SECONDS;
    let times = moments.iter().filter_map(|moment| moment.time_seconds);
    let period =
        if times.clone().all(|time| time < DAY_SECONDS) { DAY_SECONDS } else { YEAR_SECONDS };
    let (mut last, mut offset) = (0.0, 0.0);
    for time in moments.iter_mut().filter_map(|moment| moment.time_seconds.as_mut()) {
        if last - *time > period / 2.0 {
            offset += period;
        }
        last = *time;
        *time += offset;
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
