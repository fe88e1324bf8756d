//! Finds the tables in a text, line by line.
//!
//! # How it works
//! A line is cleaned, and each kind of row is asked whether it is one. A row that a mailer cut is put together with the
//! lines below it. Rows of a kind make a table. A moment ends where a cache is named again, and may end at a heading or
//! a time: what follows is a moment of its own if it names again what was named before, and else the same one, so that a
//! sorted list, whose heading lies anywhere, stays whole.
//!
//! # Invariants
//! The numbers of a row are taken all or not at all. Memory grows with the rows that are read, and not with the text.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Read};

use schemars::JsonSchema;
use serde::Serialize;

use crate::entry::{Entry, Machine, Moment};
use crate::line::{LINE_BYTES_MAX, cleaned, count, is_cache_name};
use crate::rows::{Below, Found, Kind, READERS, machine, stack};
use crate::stamp::{self, Clock, Stamp};

/// Bytes of a page, in which node_exporter's numbers count.
const PAGE_BYTES: u64 = 4 << 10;
/// A heading ends after this many lines without a row.
const STRANGE_LINES_MAX: u32 = 3;
/// A row that was cut goes on for as many lines at most.
const PARTS_MAX: u32 = 4;
/// Rows without heading that could be anything make a table together with as many others.
const WEAK_ROWS_MIN: usize = 3;
/// Lines that are quoted as unread.
const UNREAD_MAX: usize = 8;
/// Characters of an unread line that are quoted.
const QUOTED_CHARS: usize = 60;

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
    /// Lines of the text
    pub lines: u64,
}

/// Rows of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Table {
    /// What they are
    pub kind: Kind,
    /// Rows that were read
    pub rows: u64,
    /// Whether the heading that such a file begins with is missing, so that rows may be missing, too
    pub may_be_cut: bool,
    /// Its moments, the first one first; one at least
    pub moments: Vec<Moment>,
}

/// A line that looked like a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unread {
    /// Its number, from 1
    pub line: u64,
    /// Its begin
    pub text: String,
}

impl Table {
    /// Returns the last moment.
    ///
    /// # Panics
    ///
    /// Never: a table has a row.
    #[must_use]
    pub fn last(&self) -> &Moment {
        self.moments.last().expect("a table has a moment")
    }
}

impl Paste {
    /// Reads all lines of a text.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn read(mut text: impl BufRead) -> io::Result<Self> {
        let mut reader = Reader::default();
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            let line = text.by_ref().take(LINE_BYTES_MAX as u64);
            if { line }.read_until(b'\n', &mut bytes)? == 0 {
                return Ok(reader.finish());
            }
            reader.line(&String::from_utf8_lossy(&bytes));
        }
    }

    /// Puts several texts together, each with the time of its file, in their order.
    #[must_use]
    pub fn joined(texts: Vec<(Paste, Option<f64>)>) -> Paste {
        let mut all = Paste::default();
        for (paste, file_seconds) in texts {
            all.lines += paste.lines;
            all.unread_lines += paste.unread_lines;
            all.unread.extend(paste.unread);
            all.machine.extend(paste.machine);
            for mut table in paste.tables {
                if let ([only], Some(seconds)) = (&mut table.moments[..], file_seconds) {
                    only.time_seconds.get_or_insert(seconds);
                }
                match all.tables.iter_mut().find(|known| known.kind == table.kind) {
                    Some(known) => {
                        known.rows += table.rows;
                        known.may_be_cut |= table.may_be_cut;
                        known.moments.extend(table.moments);
                    }
                    None => all.tables.push(table),
                }
            }
        }
        all.unread.truncate(UNREAD_MAX);
        all.tables.iter_mut().for_each(|table| keep_rising_times(&mut table.moments));
        all
    }
}

/// Forgets the times of moments that do not follow each other.
fn keep_rising_times(moments: &mut [Moment]) {
    let follow = |pair: &[Moment]| {
        pair[0].time_seconds.zip(pair[1].time_seconds).is_some_and(|(a, b)| a < b)
    };
    if moments.len() > 1 && !moments.windows(2).all(follow) {
        moments.iter_mut().for_each(|moment| moment.time_seconds = None);
    }
}

/// Reads a text line by line.
#[derive(Debug, Default)]
pub struct Reader {
    number: u64,
    tables: BTreeMap<Kind, Growing>,
    order: Vec<Kind>,
    /// The kind whose heading was seen last, and how many strange lines ago
    below: Option<(Kind, u32)>,
    part: Option<Part>,
    open: Option<(Kind, Entry)>,
    stamp: Option<Stamp>,
    weak: Vec<Entry>,
    paste: Paste,
}

/// The begin of a row whose end is missing.
#[derive(Debug)]
struct Part {
    kind: Kind,
    text: String,
    lines: u32,
    number: u64,
    /// What it is if nothing follows
    row: Option<Entry>,
    /// What it is if nothing follows and no heading was seen
    weak: bool,
}

/// A table in the making.
#[derive(Debug, Default)]
struct Growing {
    rows: u64,
    has_heading: bool,
    /// A heading or a time was seen since the last row
    at_boundary: bool,
    moments: Vec<GrowingMoment>,
}

#[derive(Debug, Default)]
struct GrowingMoment {
    stamp: Option<Stamp>,
    entries: Vec<Entry>,
    places: HashMap<(String, String, Vec<String>), usize>,
    /// It began at a heading or a time, and may be the rest of the moment before
    is_tentative: bool,
    /// It names something that the moment before names
    repeats: bool,
}

impl Reader {
    /// Takes the next line.
    pub fn line(&mut self, line: &str) {
        self.number += 1;
        let clean = cleaned(line);
        if clean.is_empty() {
            self.close();
            return;
        }
        let words: Vec<&str> = clean.split(' ').collect();
        let stamp = stamp::of_line(&clean);
        self.stamp = stamp.or(self.stamp);
        if self.goes_on(&words) {
            return;
        }
        if let Some(reader) = READERS.iter().find(|reader| (reader.is_heading)(&words)) {
            self.end_part();
            self.below = Some((reader.kind, 0));
            let table = self.table(reader.kind);
            table.has_heading = true;
            table.at_boundary = true;
            return;
        }
        if self.joins(&clean) || self.is_row(&words, &clean) {
            return;
        }
        if let Some(machine) = machine::read(&words) {
            self.add_machine(&machine);
        } else {
            self.strange(&words, stamp.is_some());
        }
    }

    /// Returns the tables.
    #[must_use]
    pub fn finish(mut self) -> Paste {
        self.close();
        self.end_part();
        if self.weak.len() >= WEAK_ROWS_MIN && !self.tables.contains_key(&Kind::Slabinfo) {
            for entry in std::mem::take(&mut self.weak) {
                self.add(Kind::Slabinfo, entry);
            }
        }
        let Self { mut tables, order, mut paste, number, .. } = self;
        let finished = order.into_iter().filter_map(|kind| {
            let table = tables.remove(&kind)?;
            table.finish(kind)
        });
        paste.tables = finished.collect();
        paste.lines = number;
        paste
    }

    /// Takes a line that belongs to the entry above it: a frame of its stack, or what its tool prints beside.
    fn goes_on(&mut self, words: &[&str]) -> bool {
        let Some((kind, entry)) = &mut self.open else { return false };
        if let Some(frame) = stack::frame(words) {
            entry.stack.push(frame);
            return true;
        }
        let beside: &[&str] = match kind {
            Kind::Kmemleak => &["comm", "hex", "backtrace", "age"],
            Kind::PageOwner => &["PFN", "Page", "Charged"],
            _ => &[],
        };
        let is_hex = |word: &&str| word.len() == 2 && u8::from_str_radix(word, 16).is_ok();
        let is_beside = beside.contains(&words[0])
            || *kind == Kind::Kmemleak && words.iter().take(4).all(is_hex);
        if !is_beside {
            self.close();
        }
        is_beside
    }

    /// Ends the entry whose stack was read.
    fn close(&mut self) {
        let Some((kind, mut entry)) = self.open.take() else { return };
        if let Some(owner) = stack::owner(&entry.stack) {
            let (name, module) = owner.split_once(' ').unwrap_or((owner, ""));
            (entry.name, entry.place) = (name.to_owned(), module.to_owned());
        }
        if entry.name.is_empty() {
            entry.name = "(no stack)".to_owned();
        }
        self.add(kind, entry);
    }

    /// Tries a row that was cut together with this line.
    fn joins(&mut self, clean: &str) -> bool {
        let Some(mut part) = self.part.take() else { return false };
        let text = format!("{} {clean}", part.text);
        let words: Vec<&str> = text.split(' ').collect();
        let reader = READERS.iter().find(|reader| reader.kind == part.kind);
        let found = reader.map_or(Found::No, |reader| (reader.read)(&words, Below::Heading));
        match found {
            Found::Row(entry) => {
                self.add(part.kind, entry);
                true
            }
            // Numbers below a name may be a row of their own; behind `tunables` they are none.
            Found::Part(row)
                if part.lines < PARTS_MAX
                    && (part.kind != Kind::Slabinfo || text.contains("tunables")) =>
            {
                part = Part { text, lines: part.lines + 1, row: row.or(part.row), ..part };
                self.part = Some(part);
                true
            }
            _ => {
                self.part = Some(part);
                self.end_part();
                false
            }
        }
    }

    /// Takes the begin of a row for what it is when nothing follows.
    fn end_part(&mut self) {
        let Some(part) = self.part.take() else { return };
        match part.row {
            Some(row) if part.weak => self.weak.push(row),
            Some(row) => self.add(part.kind, row),
            None => self.unread(part.number, &part.text),
        }
    }

    /// Takes a line that is a row, or the begin of one.
    fn is_row(&mut self, words: &[&str], clean: &str) -> bool {
        let mut is_damaged = false;
        for reader in &READERS {
            let is_below = self.below.is_some_and(|(kind, _)| kind == reader.kind);
            let below = if is_below { Below::Heading } else { Below::Nothing };
            match (reader.read)(words, below) {
                Found::Row(entry) => {
                    self.add(reader.kind, entry);
                    return true;
                }
                Found::Open(entry) if reader.kind == Kind::Prometheus => {
                    self.add(reader.kind, entry);
                    return true;
                }
                Found::Open(entry) => {
                    self.open = Some((reader.kind, entry));
                    return true;
                }
                Found::Part(row) => {
                    let (text, number) = (clean.to_owned(), self.number);
                    let weak = !is_below && !clean.contains("tunables");
                    self.part = Some(Part { kind: reader.kind, text, lines: 1, number, row, weak });
                    return true;
                }
                Found::Damaged => is_damaged = true,
                Found::No => {}
            }
        }
        if is_damaged {
            self.unread(self.number, clean);
        }
        is_damaged
    }

    fn add_machine(&mut self, said: &Machine) {
        let machines = &mut self.paste.machine;
        let says_again = |last: &Machine| {
            let fields = |m: &Machine| {
                [m.memory_bytes, m.slab_bytes, m.reclaimable_bytes, m.unreclaimable_bytes]
            };
            fields(last).iter().zip(fields(said)).any(|(a, b)| a.is_some() && b.is_some())
        };
        match machines.last_mut() {
            Some(last) if !says_again(last) => last.complete(said),
            _ => machines.push(*said),
        }
    }

    /// Takes a line that is nothing: a time alone may end a moment, and many of them end what a heading began.
    fn strange(&mut self, words: &[&str], is_time: bool) {
        if is_time {
            self.tables.values_mut().for_each(|table| table.at_boundary = true);
            return;
        }
        let Some((kind, lines)) = &mut self.below else { return };
        *lines += 1;
        let is_over = *lines > STRANGE_LINES_MAX;
        let numbers = words.iter().filter(|word| count(word).is_some()).count();
        let looks_like_row = *kind == Kind::Slabinfo
            && numbers >= 4
            && words.first().is_some_and(|word| is_cache_name(word));
        if is_over {
            self.below = None;
        } else if looks_like_row {
            self.unread(self.number, &words.join(" "));
        }
    }

    fn unread(&mut self, line: u64, text: &str) {
        self.paste.unread_lines += 1;
        if self.paste.unread.len() < UNREAD_MAX {
            let text = text.chars().take(QUOTED_CHARS).collect();
            self.paste.unread.push(Unread { line, text });
        }
    }

    fn table(&mut self, kind: Kind) -> &mut Growing {
        if !self.tables.contains_key(&kind) {
            self.order.push(kind);
        }
        self.tables.entry(kind).or_default()
    }

    fn add(&mut self, kind: Kind, entry: Entry) {
        if let Some((below, lines)) = &mut self.below
            && *below == kind
        {
            *lines = 0;
        }
        let stamp = self.stamp;
        self.table(kind).add(kind, entry, stamp);
    }
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
    fn add(&mut self, kind: Kind, entry: Entry, stamp: Option<Stamp>) {
        let (name, place, stack) = entry.key();
        let key = (name.to_owned(), place.to_owned(), stack.to_vec());
        let begins = self.moments.last().is_none_or(|moment| {
            let again = moment.places.get(&key).map(|&at| &moment.entries[at]);
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
            [.., before, _] => before.places.contains_key(&key),
            _ => false,
        };
        let moment = self.moments.last_mut().expect("one was begun");
        moment.repeats |= repeats;
        moment.take(kind, key, entry);
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
        for entry in rest.entries {
            let (name, place, stack) = entry.key();
            let key = (name.to_owned(), place.to_owned(), stack.to_vec());
            before.places.insert(key, before.entries.len());
            before.entries.push(entry);
        }
    }

    fn finish(mut self, kind: Kind) -> Option<Table> {
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
    fn take(&mut self, kind: Kind, key: (String, String, Vec<String>), entry: Entry) {
        let Some(&at) = self.places.get(&key) else {
            self.places.insert(key, self.entries.len());
            self.entries.push(entry);
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
