//! The tables of a text, or of several.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::Serialize;

use crate::entry::{Machine, Moment};
use crate::host;
use crate::rows::Kind;

/// Lines that are quoted as unread.
pub(crate) const UNREAD_MAX: usize = 8;

/// The tables of a text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Paste {
    /// The tables, in the order in which they begin
    pub tables: Vec<Table>,
    /// What the machine says of its memory, at one moment or several
    pub machine: Vec<Machine>,
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
}

/// Rows of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Table {
    /// What they are
    pub kind: Kind,
    /// Whose they are, where the text names several hosts
    pub host: Option<String>,
    /// Rows that were read
    pub rows: u64,
    /// Whether the heading that such a file begins with is missing, so that rows may be missing, too
    pub may_be_cut: bool,
    /// Whether its times are dates, so that they tell the order of the moments
    #[serde(skip)]
    pub(crate) is_dated: bool,
    /// Its moments, the first one first; one at least. A moment without a readable row has no
    /// entry
    pub moments: Vec<Moment>,
}

/// A line that looked like a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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
            all.machine.extend(paste.machine);
            for mut table in paste.tables {
                table.host = table.host.or_else(|| only.clone());
                if let ([only], Some(seconds)) = (&mut table.moments[..], file_seconds)
                    && only.time_seconds.is_none()
                {
                    only.time_seconds = Some(seconds);
                    table.is_dated = true;
                }
                match all
                    .tables
                    .iter_mut()
                    .find(|known| known.kind == table.kind && known.host == table.host)
                {
                    Some(known) => {
                        known.rows += table.rows;
                        known.may_be_cut |= table.may_be_cut;
                        known.is_dated &= table.is_dated;
                        known.moments.extend(table.moments);
                    }
                    None => all.tables.push(table),
                }
            }
        }
        all.unread.truncate(UNREAD_MAX);
        all.tables.iter_mut().for_each(|table| order_by_time(&mut table.moments, table.is_dated));
        all
    }
}

/// Rows of one moment are written within this time; a rate from such a span says nothing.
const SPAN_SECONDS_MIN: f64 = 1.0;

/// Puts moments in the order of their times, if all have one and they are dates; forgets times that do not tell moments
/// apart. Time since a boot does not tell the order: the machine may have booted between them.
pub(crate) fn order_by_time(moments: &mut [Moment], are_dates: bool) {
    let time = |moment: &Moment| moment.time_seconds;
    if moments.len() < 2 {
        return;
    }
    let mut times: Vec<f64> = moments.iter().filter_map(time).collect();
    if are_dates {
        times.sort_by(f64::total_cmp);
    }
    let are_apart = times.windows(2).all(|pair| pair[0] < pair[1]);
    let is_long = times.last().zip(times.first()).is_some_and(|(b, a)| b - a >= SPAN_SECONDS_MIN);
    match times.len() == moments.len() && are_apart && is_long {
        true => moments.sort_by(|a, b| time(a).partial_cmp(&time(b)).unwrap_or(Ordering::Equal)),
        false => moments.iter_mut().for_each(|moment| moment.time_seconds = None),
    }
}
