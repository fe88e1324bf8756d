//! Finds the tables in a text, line by line.
//!
//! # How it works
//! A line is cleaned, and each kind of row is asked whether it is one. A row that was cut is put together with the lines below
//! it (`cut`). Rows of a kind make a table, and its moments (`moments`).
//!
//! # Invariants
//! The numbers of a row are taken all or not at all. Memory grows with the rows that are read, and not with the text.

use std::collections::{BTreeMap, HashSet};

use self::led::{Open, lead};
use crate::cut::{Alone, Cut, Joined};
use crate::edge::{Columns, Edge};
use crate::entry::Entry;
use crate::free::{self, FreeBlocks};
use crate::heading::Heading;
use crate::host;
use crate::html;
use crate::line::{cleaned, without_escapes};
use crate::machines::{self, SaidAt};
use crate::moment::Above;
use crate::moments::Growing;
use crate::paste::{Paste, Said, Table, UNREAD_MAX, Unread};
use crate::quoted::{self, Quoted};
use crate::rows::{Below, Found, Kind, READERS, alloc_traces, machine, memleak, slabinfo2};
use crate::sides::{Side, Sides};
use crate::stamp::{self, Clock, Stamp};
use crate::wrapped;

/// A heading ends after this many lines without a row.
const STRANGE_LINES_MAX: u32 = 3;
/// Rows without heading that could be anything make a table together with as many others.
const WEAK_ROWS_MIN: usize = 3;
/// Columns of a row that was cut: with as many, or all but one, below a heading it is counted when its rest is missing.
const COLUMNS_COUNTED: usize = 3;
/// The same of a row whose line is nothing else and stands among rows.
const COLUMNS_AMONG_ROWS: usize = 2;
/// A clock of the boot that falls to less than this share has begun anew.
const CLOCK_SHARE_MAX: f64 = 0.5;
/// Characters of an unread line that are quoted.
const QUOTED_CHARS: usize = 60;

mod above;
mod led;
mod open;
mod said;

/// A table of the text: its kind, and the place of its host among those that are named; 0 before one is. Places of memory cgroups
/// are [`CGROUPS`] and above.
type TableId = (Kind, usize);
const CGROUPS: usize = usize::MAX / 2;

/// A host that lines name.
#[derive(Debug)]
struct Host {
    name: String,
    /// It stood where other words stand as well
    is_label: bool,
}

/// Reads a text line by line.
#[derive(Debug, Default)]
pub struct Reader {
    number: u64,
    tables: BTreeMap<TableId, Growing>,
    order: Vec<TableId>,
    /// The hosts that lines named
    hosts: Vec<Host>,
    /// The line above is blank
    is_below_blank: bool,
    /// The line above is drawn
    is_below_rule: bool,
    /// The column of a spreadsheet that has hosts
    host_column: Option<usize>,
    /// Where the columns of a spreadsheet are, if not where the kernel has them
    column_order: Option<Vec<usize>>,
    /// The one that was named last
    host: usize,
    /// The kind whose heading was seen last, and how many strange lines ago
    below: Option<(Kind, u32)>,
    cut: Option<Cut>,
    columns: Columns,
    /// Where the line ends
    edge: Edge,
    open: Option<Open>,
    stamp: Option<Stamp>,
    weak: Vec<(usize, Entry)>,
    paste: Paste,
    /// What the machine says, and when
    machine: Vec<SaidAt>,
    /// The free lists of each host
    free: BTreeMap<usize, Vec<FreeBlocks>>,
    /// What stands above the next row
    above: Above,
    /// The time since the last boot that a line told last
    uptime_seconds: f64,
    /// The clock of the boot in this line, and in the last row of a log of the kernel
    line_seconds: Option<f64>,
    row_seconds: f64,
    /// The node and zone of /proc/zoneinfo whose lines follow, and the first one of the list
    zones: Option<(String, String)>,
    /// Addresses of objects that kmemleak listed: a later scan lists them again
    addresses: HashSet<u64>,
    /// The open entry was listed before
    is_listed: bool,
    /// The memory cgroups that lines named: those of `memory.stat`, which no other table is of
    cgroups: Vec<String>,
    /// The place of the one whose numbers follow
    cgroup: Option<usize>,
    /// The kernel that was named last
    release: Option<String>,
    /// The cache whose traces of allocations follow, by the path of their file
    traced_cache: Option<String>,
    sides: Sides,
    /// Lines of a mail that were cut
    quoted: Quoted,
}

impl Reader {
    /// Begins a text whose begin is `head`.
    #[must_use]
    pub fn of(head: &str) -> Self {
        Self { columns: Columns::of(head), ..Self::default() }
    }

    /// Takes the next line.
    pub fn line(&mut self, line: &str) {
        self.number += 1;
        // A comparison in colours has its signs behind them.
        let line = &*without_escapes(line);
        match self.quoted.line(line) {
            quoted::Line::AsItIs => self.of_log(line),
            quoted::Line::Begun => {}
            quoted::Line::Whole(line) => self.of_log(&line),
        }
    }

    /// Takes a line that a collector of logs may have wrapped.
    fn of_log(&mut self, line: &str) {
        let Some(wrapped) = wrapped::of(line) else { return self.of_html(line) };
        if let Some(host) = &wrapped.host {
            self.name_host(host, false);
        }
        match (wrapped.text, wrapped.stamp) {
            (Some(text), stamp) => {
                self.stamp = stamp.or(self.stamp);
                text.lines().for_each(|line| self.of_html(line));
            }
            (None, Some(stamp)) => self.tables.values_mut().for_each(|table| table.late(stamp)),
            (None, None) => {}
        }
    }

    /// Takes a line that HTML may make several.
    fn of_html(&mut self, line: &str) {
        match html::lines(line) {
            Some(lines) => lines.into_iter().for_each(|line| self.part(line)),
            None => self.of_sides(line),
        }
    }

    /// Takes a line that may be one of two texts beside each other.
    fn of_sides(&mut self, line: &str) {
        match self.sides.of(line) {
            Side::Whole => self.part(line),
            Side::Begins => {
                self.above.is_side = true;
                self.tables.values_mut().for_each(Growing::boundary);
            }
            Side::Before(line) => self.part(line),
            Side::Kept => {}
            Side::Ended => {
                self.end_sides();
                self.part(line);
            }
        }
    }

    /// Takes the later of two texts, after the earlier one was read.
    fn end_sides(&mut self) {
        let later = self.sides.take();
        if later.is_empty() {
            return;
        }
        self.close();
        self.end_cut();
        self.tables.values_mut().for_each(Growing::boundary);
        self.above.is_side = true;
        later.iter().for_each(|line| self.part(line));
        self.close();
        self.end_cut();
        self.above.is_side = false;
        // A comparison shows parts of its texts.
        self.tables.values_mut().for_each(Growing::omit);
        self.tables.values_mut().for_each(Growing::boundary);
    }

    /// Takes a line, or what HTML makes a line of its own.
    fn part(&mut self, line: &str) {
        let above = std::mem::replace(&mut self.edge, self.columns.edge(line));
        let clean = cleaned(line);
        if clean.is_empty() {
            if self.cut.as_ref().is_some_and(|cut| matches!(cut.alone, Alone::Row(_))) {
                self.end_cut();
            }
            self.is_below_blank = true;
            return;
        }
        self.paste.text_lines += 1;
        if std::mem::take(&mut self.is_below_blank) && self.cut.is_none() {
            self.gap();
        }
        let words: Vec<&str> = clean.split(' ').collect();
        let watch = host::watch(&words).map(|(_, time)| time.join(" "));
        let stamp = stamp::of_line(watch.as_deref().unwrap_or(&clean));
        self.find_host(&words);
        let boot = stamp.filter(|stamp| stamp.clock == Clock::Boot).map(|stamp| stamp.seconds);
        self.line_seconds = boot.or_else(|| stamp::boot_seconds_within(&words));
        self.find_boot(&words, stamp);
        self.stamp = stamp.or(self.stamp);
        if self.goes_on(&words) {
            return;
        }
        if memleak::is_allocation(&words) {
            return;
        }
        // The head of an interval of bcc's tools, whose numbers are of no row.
        if words.iter().take(2).any(|word| *word == "loadavg:") {
            self.tables.values_mut().for_each(Growing::boundary);
            return;
        }
        // Such a line is whole, and not a row that was cut.
        if stamp.is_some_and(|stamp| stamp.clock == Clock::Words) || host::is_moment(&words) {
            self.end_cut();
            self.above.heading.line(&words);
            self.begin_moments();
            return;
        }
        self.find_place(line, &words);
        if let Some(reader) = READERS.iter().find(|reader| (reader.is_heading)(&words)) {
            self.end_cut();
            self.below = Some((reader.kind, 0));
            self.host_column = words.iter().position(|word| is_host_column(word));
            self.column_order = slabinfo2::order(&words);
            let stamp = self.stamp;
            self.table(reader.kind).heading(reader.kind, stamp);
            // Headings are as long as each other in every series, and no column cuts them.
            self.edge = Edge::Free;
            return;
        }
        if let Some(list) = free::read(&words) {
            self.end_cut();
            free::add(self.free.entry(self.host).or_default(), list);
            return;
        }
        let sorted: Option<Vec<&str>> = self.column_order.as_ref().and_then(|order| {
            let word = |at: &usize| words.get(*at).copied();
            order.iter().map(word).collect()
        });
        let words = sorted.unwrap_or(words);
        let found = self.found(&words);
        if self.joins(&clean, found.as_ref()) {
            return;
        }
        match found {
            Some((kind, found)) => self.take(kind, found, &words),
            None => {
                if let Some(line) = machine::read(&words) {
                    self.add_machine(&line);
                } else {
                    self.strange(&words, above, stamp.is_some());
                }
            }
        }
    }

    /// Returns the tables.
    #[must_use]
    pub fn finish(mut self) -> Paste {
        if let Some(rest) = self.quoted.rest() {
            self.of_html(&rest);
        }
        self.end_sides();
        self.close();
        self.end_cut();
        self.weak.retain(|(host, _)| !self.tables.contains_key(&(Kind::Slabinfo, *host)));
        if self.weak.len() >= WEAK_ROWS_MIN {
            for (host, entry) in std::mem::take(&mut self.weak) {
                self.host = host;
                self.add(Kind::Slabinfo, entry);
            }
        }
        self.count_pages();
        let has_hosts = self.has_hosts();
        let Self {
            mut tables, order, mut paste, number, mut machine, free, hosts, cgroups, ..
        } = self;
        let names = hosts.into_iter().filter(|host| has_hosts || !host.is_label);
        let mut hosts: Vec<String> = names.map(|host| host.name).collect();
        if !has_hosts {
            hosts.truncate(1);
            machine.iter_mut().for_each(|said| said.host = 0);
        }
        let named = |host: usize| {
            let (names, at) = host.checked_sub(CGROUPS).map_or((&hosts, host), |at| (&cgroups, at));
            names.get(at).filter(|_| names.len() > 1).cloned()
        };
        let finished = order.into_iter().filter_map(|(kind, host)| {
            let table = tables.remove(&(kind, host))?;
            Some(Table { host: named(host), ..table.finish(kind)? })
        });
        let totals = (0..hosts.len().max(1)).filter_map(|host| {
            let said = machine.iter().filter(|said| said.host == host);
            Some(Table { host: named(host), ..machines::table(said)? })
        });
        paste.tables = finished.chain(totals).collect();
        let said =
            machine.iter().map(|said| Said { host: named(said.host), machine: said.machine });
        paste.machine = said.collect();
        for (host, lists) in free {
            let of_host = |list| FreeBlocks { host: named(host), ..list };
            lists.into_iter().map(of_host).for_each(|list| free::add(&mut paste.free, list));
        }
        paste.hosts = hosts;
        if cgroups.len() > 1 {
            paste.hosts.extend(cgroups);
        }
        paste.lines = number;
        paste
    }

    /// Returns what the words are by themselves: a row, its begin, or what is damaged.
    fn found(&self, words: &[&str]) -> Option<(Kind, Found)> {
        let mut damaged = None;
        for reader in &READERS {
            match (reader.read)(words, self.below(reader.kind)) {
                Found::No => {}
                Found::Damaged => damaged = damaged.or(Some((reader.kind, Found::Damaged))),
                // Where the numbers of a version run into each other, some rows look like those of another.
                Found::Part(_) if self.is_of_slabinfo1(reader.kind, words) => {
                    return Some((Kind::Slabinfo1, Found::Damaged));
                }
                found => return Some((reader.kind, found)),
            }
        }
        damaged
    }

    fn is_of_slabinfo1(&self, kind: Kind, words: &[&str]) -> bool {
        kind == Kind::Slabinfo
            && self.below(Kind::Slabinfo1) == Below::Heading
            && !words.contains(&"tunables")
    }

    fn below(&self, kind: Kind) -> Below {
        let is_below = self.below.is_some_and(|(below, _)| below == kind);
        if is_below { Below::Heading } else { Below::Nothing }
    }

    /// Tries a row that was cut together with this line, which `found` says what it is by itself.
    fn joins(&mut self, clean: &str, found: Option<&(Kind, Found)>) -> bool {
        let Some(cut) = self.cut.take() else { return false };
        match found {
            None | Some((_, Found::Damaged)) => {}
            Some((kind, Found::Row(row))) => {
                let whole = cut.with_row(clean, &(*kind, row.clone()));
                self.cut = whole.is_none().then_some(cut);
                self.end_cut();
                let is_whole = whole.is_some();
                whole.into_iter().for_each(|whole| self.add(*kind, whole));
                return is_whole;
            }
            Some(_) => {
                self.cut = Some(cut);
                self.end_cut();
                return false;
            }
        }
        match cut.with(clean, self.edge) {
            Joined::Row(kind, entry) => self.add(kind, entry),
            Joined::Open(kind, entry) => {
                self.open = Some(Open { kind, entry, stamp: self.stamp, lead: Vec::new() });
            }
            Joined::More(cut) => self.cut = Some(cut),
            Joined::Apart(cut) => {
                self.cut = Some(cut);
                self.end_cut();
                return false;
            }
        }
        true
    }

    /// Takes the begin of a row for what it is when nothing follows.
    fn end_cut(&mut self) {
        let Some(cut) = self.cut.take() else { return };
        let now = std::mem::replace(&mut self.stamp, cut.stamp);
        match cut.alone.clone() {
            Alone::Row(row) => self.add(cut.kinds[0], row),
            Alone::Weak(row) => self.weak.push((self.host, row)),
            Alone::Damaged => {
                self.unread(cut.number, cut.text());
                let kind = self.below.map_or(cut.kinds.first().copied(), |(kind, _)| Some(kind));
                kind.into_iter().for_each(|kind| self.damaged(kind));
            }
            Alone::Nothing => {}
        }
        self.stamp = now;
    }

    /// Takes a line that is something by itself.
    fn take(&mut self, kind: Kind, found: Found, words: &[&str]) {
        let text = words.join(" ");
        let alone = match found {
            Found::Row(entry) if self.edge != Edge::Free && kind.reader().ends_anywhere => {
                Alone::Row(entry)
            }
            Found::Row(entry) => return self.add(kind, entry),
            Found::Open(mut entry) => {
                if let (Kind::AllocTraces, Some(cache)) = (kind, &self.traced_cache) {
                    alloc_traces::count_bytes(&mut entry, cache);
                }
                self.is_listed = kind == Kind::Kmemleak && !self.is_new(words);
                let lead = lead(kind, words);
                self.open = Some(Open { kind, entry, stamp: self.stamp, lead });
                return;
            }
            Found::Part(Some(row)) => match self.below(kind) {
                Below::Nothing if !text.contains("tunables") => Alone::Weak(row),
                _ => Alone::Row(row),
            },
            Found::Part(None) | Found::Damaged => Alone::Damaged,
            Found::No => return,
        };
        let mut kinds = vec![kind];
        if !matches!(alone, Alone::Row(_)) {
            let others = self.begun(words).into_iter().map(|(kind, _)| kind);
            kinds.extend(others.filter(|other| *other != kind));
        }
        self.cut = Some(Cut::new(kinds, &text, self.edge, self.number, self.stamp, alone));
    }

    /// Returns whether the object of a row of kmemleak was not listed before.
    fn is_new(&mut self, words: &[&str]) -> bool {
        let at = words.iter().position(|word| *word == "object");
        let address = at.and_then(|at| words.get(at + 1)?.strip_prefix("0x"));
        let address = address.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        address.is_none_or(|address| self.addresses.insert(address))
    }

    /// Returns the kinds whose row may begin at the end of a line, with how many of its columns.
    fn begun(&self, words: &[&str]) -> Vec<(Kind, usize)> {
        let begun = READERS.iter().filter_map(|reader| {
            let columns = reader.begin(words, self.edge);
            let least = match self.below(reader.kind) {
                Below::Heading => 1,
                Below::Nothing if reader.needs_heading => return None,
                Below::Nothing => reader.columns_min,
            };
            (columns >= least).then_some((reader.kind, columns))
        });
        begun.collect()
    }

    /// Takes a line that is nothing by itself: a time alone may end a moment, the begin of a row waits for its rest, and many
    /// of them end what a heading began.
    fn strange(&mut self, words: &[&str], above: Edge, is_time: bool) {
        if let ["Node", node, "zone", zone, ..] = words {
            let zone = format!("{node} {zone}");
            let first = self.zones.take().map_or_else(|| zone.clone(), |(_, first)| first);
            self.zones = Some((zone, first));
        }
        self.above.is_of_cgroups |= words.iter().any(|word| word.contains("memory.kmem.slabinfo"));
        self.above.heading.line(words);
        let begun = self.begun(words);
        if begun.is_empty() {
            self.gap();
        }
        let mut is_of_table = false;
        if !begun.is_empty() || self.edge == Edge::Known {
            let is_sure = |(kind, columns): &(Kind, usize)| {
                let all = kind.reader().columns.iter().map(|form| form.len()).max().unwrap_or(0);
                let lines = self.below.filter(|(below, _)| below == kind).map(|(_, lines)| lines);
                let least = match lines {
                    Some(0) if *columns == words.len() => COLUMNS_AMONG_ROWS,
                    _ => COLUMNS_COUNTED,
                };
                lines.is_some() && *columns >= least.min(all.saturating_sub(1))
            };
            // Below a row that a column cut lies its rest.
            let is_counted = above != Edge::Known && begun.iter().any(is_sure);
            is_of_table = is_counted;
            let alone = if is_counted { Alone::Damaged } else { Alone::Nothing };
            let kinds = begun.into_iter().map(|(kind, _)| kind).collect();
            let text = words.join(" ");
            self.cut = Some(Cut::new(kinds, &text, self.edge, self.number, self.stamp, alone));
        }
        if is_time {
            self.begin_moments();
        }
        if is_omission(words) {
            self.tables.values_mut().for_each(Growing::omit);
        }
        let Some((_, lines)) = self.below.as_mut().filter(|_| !is_of_table) else { return };
        *lines += 1;
        if *lines > STRANGE_LINES_MAX {
            self.below = None;
        }
    }

    /// Tells all tables that what follows may be another moment, in which objects are listed anew.
    fn begin_moments(&mut self) {
        self.close();
        self.addresses.clear();
        self.tables.values_mut().for_each(Growing::boundary);
    }

    /// Tells all tables of a line besides their rows.
    fn gap(&mut self) {
        self.tables.iter_mut().for_each(|((kind, _), table)| table.gap(*kind));
    }

    /// Counts a line that is longer than any row.
    pub(crate) fn too_long(&mut self, begin: &str) {
        self.number += 1;
        self.paste.text_lines += 1;
        self.unread(self.number, begin);
    }

    fn unread(&mut self, line: u64, text: &str) {
        self.paste.unread_lines += 1;
        if self.paste.unread.len() < UNREAD_MAX {
            let text = text.chars().take(QUOTED_CHARS).collect();
            self.paste.unread.push(Unread { file: None, line, text });
        }
    }

    /// Tells the table of a kind, if there is one, that a row of it could not be read.
    fn damaged(&mut self, kind: Kind) {
        self.tables.entry((kind, self.host)).and_modify(Growing::damage);
    }

    fn table(&mut self, kind: Kind) -> &mut Growing {
        let of_cgroup = self.cgroup.filter(|_| kind == Kind::MemoryStat);
        let id = (kind, of_cgroup.map_or(self.host, |at| CGROUPS + at));
        if !self.tables.contains_key(&id) {
            self.order.push(id);
        }
        self.tables.entry(id).or_default()
    }

    fn add(&mut self, kind: Kind, entry: Entry) {
        if let Some((below, lines)) = &mut self.below
            && *below == kind
        {
            *lines = 0;
        }
        // The clock of a log of the kernel falls where the machine booted.
        if kind == Kind::Oom
            && let Some(seconds) = self.line_seconds
        {
            self.above.boot += u32::from(seconds < self.row_seconds * CLOCK_SHARE_MAX);
            self.row_seconds = seconds;
        }
        let (stamp, above) = (self.stamp, std::mem::take(&mut self.above));
        self.table(kind).add(kind, entry, stamp, &above);
        self.above = Above { heading: Heading::default(), ..above };
    }
}

/// Returns whether a line stands for lines that were left out.
fn is_omission(words: &[&str]) -> bool {
    let is_mark =
        |word: &&str| matches!(word.trim_matches(['[', ']', '(', ')']), "..." | "\u{2026}");
    let says_so = |word: &&str| {
        ["omitted", "truncated", "snip", "snipped", "skipped"]
            .contains(&word.trim_matches(|c: char| !c.is_ascii_alphabetic()))
    };
    words.len() == 1 && words.iter().all(is_mark) || words.len() <= 6 && words.iter().any(says_so)
}

/// Returns whether a word is the heading of a spreadsheet's column of hosts.
fn is_host_column(word: &str) -> bool {
    ["host", "hostname", "instance", "node", "server"].contains(&word.to_ascii_lowercase().as_str())
}
