//! The tables of a text, or of several.

use std::cmp::Ordering;

use serde::Serialize;

use crate::entry::{Machine, Moment};
use crate::free::{self, FreeBlocks};
use crate::heading::{Differing, are_names};
use crate::host;
use crate::rows::Kind;
use crate::stamp::Clock;

/// Lines that are quoted as unread.
pub(crate) const UNREAD_MAX: usize = 8;

/// The tables of a text.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Paste {
    /// The tables, in the order in which they begin
    pub tables: Vec<Table>,
    /// What machines say of their memory, at one moment or several
    pub machine: Vec<Said>,
    /// The free blocks of zones, the last list of each
    pub free: Vec<FreeBlocks>,
    /// Lines that looked like a row and could not be read
    pub unread_lines: u64,
    /// The first of them
    pub unread: Vec<Unread>,
    /// The hosts that the text names
    pub hosts: Vec<String>,
    /// Lines of the text
    pub lines: u64,
    /// Those that are not blank
    pub text_lines: u64,
    /// Whether the end of a series is missing, as a power cut leaves it
    pub is_torn: bool,
    /// Whether numbers of pages were counted with 4 KiB each, since the text does not tell how large they are
    pub is_page_size_taken: bool,
}

/// What a machine says of its memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Said {
    /// Whose it is, where the text names several hosts
    pub host: Option<String>,
    /// What it says
    pub machine: Machine,
}

/// Rows of one kind.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Table {
    /// What they are
    pub kind: Kind,
    /// Whose they are, where the text names several hosts
    pub host: Option<String>,
    /// Rows that were read
    pub rows: u64,
    /// Whether the heading that such a file begins with is missing, so that rows may be missing, too
    pub may_be_cut: bool,
    /// Whether a terminal cut names of caches; caches whose names are left alike are added up
    pub has_cut_names: bool,
    /// Whether its moments tell times that do not rise from one to the next, and so are not used
    pub times_fall: bool,
    /// The headings of two moments, where those of all differ in a name: of two machines, or of parts of one
    #[serde(skip)]
    pub(crate) headings: Option<Differing>,
    /// Boots before the one that the moments are of; the moments of these are left out
    pub earlier_boots: usize,
    /// What its times count from, where all count from the same
    #[serde(skip)]
    pub(crate) clock: Option<Clock>,
    /// Its moments, the first one first; one at least. A moment without a readable row has no
    /// entry
    pub moments: Vec<Moment>,
}

/// A line that looked like a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Unread {
    /// Its file, where there are several
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its number, from 1
    pub line: u64,
    /// Its begin
    pub text: String,
}

impl Table {
    /// Returns the last moment that has entries.
    ///
    /// # Panics
    ///
    /// Never: a table has a row.
    #[must_use]
    pub fn last(&self) -> &Moment {
        let has_rows = |moment: &&Moment| !moment.entries.is_empty();
        self.moments.iter().rfind(has_rows).expect("a table has a row")
    }
}

impl Paste {
    /// Takes the names of the files that it was put together from: where they differ in a word that can be the name of a
    /// machine, so may the machines.
    #[must_use]
    pub fn under(mut self, files: &[String]) -> Paste {
        if let [first, rest @ ..] = files
            && let Some(other) = rest.first()
            && rest.iter().all(|other| are_names(first, other))
        {
            let headings =
                Some(Differing { one: first.clone(), other: other.clone(), are_machines: false });
            self.tables.iter_mut().for_each(|table| table.headings.clone_from(&headings));
        }
        self
    }

    /// Puts several texts together, each with the time of its file, in their order.
    #[must_use]
    pub fn joined(texts: Vec<(Paste, Option<f64>)>) -> Paste {
        let mut all = Paste::default();
        for host in texts.iter().flat_map(|(paste, _)| &paste.hosts) {
            if !all.hosts.iter().any(|known| host::are_one(known, host)) {
                all.hosts.push(host.clone());
            }
        }
        for (paste, file_seconds) in texts {
            let only = match &paste.hosts[..] {
                [only] if all.hosts.len() > 1 => {
                    let known = all.hosts.iter().find(|known| host::are_one(known, only));
                    known.cloned()
                }
                _ => None,
            };
            all.lines += paste.lines;
            all.text_lines += paste.text_lines;
            all.unread_lines += paste.unread_lines;
            all.unread.extend(paste.unread);
            all.is_torn |= paste.is_torn;
            all.is_page_size_taken |= paste.is_page_size_taken;
            let host_of = |host: Option<String>| {
                let host = host.or_else(|| only.clone())?;
                let known = all.hosts.iter().find(|known| host::are_one(known, &host));
                known.filter(|_| all.hosts.len() > 1).cloned()
            };
            all.machine.extend(
                paste.machine.into_iter().map(|said| Said { host: host_of(said.host), ..said }),
            );
            for list in paste.free {
                free::add(&mut all.free, FreeBlocks { host: host_of(list.host.clone()), ..list });
            }
            for mut table in paste.tables {
                table.host = host_of(table.host);
                if let ([only], Some(seconds)) = (&mut table.moments[..], file_seconds)
                    && only.time_seconds.is_none()
                {
                    only.time_seconds = Some(seconds);
                    table.clock = Some(Clock::Date);
                }
                match all
                    .tables
                    .iter_mut()
                    .find(|known| known.kind == table.kind && known.host == table.host)
                {
                    Some(known) => {
                        known.rows += table.rows;
                        known.may_be_cut |= table.may_be_cut;
                        known.has_cut_names |= table.has_cut_names;
                        known.clock = known.clock.filter(|clock| Some(*clock) == table.clock);
                        known.moments.extend(table.moments);
                    }
                    None => all.tables.push(table),
                }
            }
        }
        all.unread.truncate(UNREAD_MAX);
        for table in &mut all.tables {
            table.times_fall |= order_by_time(&mut table.moments, table.clock);
        }
        all
    }
}

/// Rows of one moment are written within this time; a rate from such a span says nothing.
const SPAN_SECONDS_MIN: f64 = 1.0;

/// A date before this one is that of a machine whose clock was not set yet: 1 January 2000.
const DATE_SECONDS_MIN: f64 = 946_684_800.0;
/// The end of summer time.
const HOUR_SECONDS: f64 = 3600.0;

/// Puts moments in the order of their times, if all have one and they are dates; forgets times that do not tell moments
/// apart, and returns whether there were such. Time since a boot does not tell the order: the machine may have booted between
/// them.
pub(crate) fn order_by_time(moments: &mut [Moment], clock: Option<Clock>) -> bool {
    let time = |moment: &Moment| moment.time_seconds;
    if moments.len() < 2 {
        return false;
    }
    let mut times: Vec<f64> = moments.iter().filter_map(time).collect();
    let mut back = times.windows(2).map(|pair| pair[0] - pair[1]).filter(|back| *back > 0.0);
    // One step back in a rising series is a clock that was set.
    let is_set_back = times.len() > 2
        && back.next().is_some_and(|back| back <= HOUR_SECONDS)
        && back.next().is_none();
    if matches!(clock, Some(Clock::Date | Clock::Words)) && !is_set_back {
        times.sort_by(f64::total_cmp);
    }
    // A time of day that falls from moment to moment is that of a list with the newest first.
    let falls = times.len() > 2 && times.windows(2).all(|pair| pair[0] > pair[1]);
    if clock == Some(Clock::Calendar) && falls {
        moments.reverse();
        times.reverse();
    }
    let is_set = |pair: &[f64]| pair[0] < DATE_SECONDS_MIN && pair[1] >= DATE_SECONDS_MIN;
    if clock.is_none() || clock == Some(Clock::Date) && times.windows(2).any(is_set) {
        times.clear();
    }
    let are_apart = times.windows(2).all(|pair| pair[0] < pair[1]);
    let is_long = times.last().zip(times.first()).is_some_and(|(b, a)| b - a >= SPAN_SECONDS_MIN);
    let are_told = times.len() == moments.len();
    match are_told && are_apart && is_long {
        true => moments.sort_by(|a, b| time(a).partial_cmp(&time(b)).unwrap_or(Ordering::Equal)),
        false => moments.iter_mut().for_each(|moment| moment.time_seconds = None),
    }
    are_told && !are_apart
}
