//! What holds slab memory, and whether it grows: the answer about tables that a user pasted, saved or logged.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use slablab_host::shell;
use slablab_linux::KmallocCache;
use slablab_report::{Cell, Document, Fact, Item, Section, Table, counted, field};
use slablab_snapshot::{
    Family, Growth, Holders, Kind, Machine, Paste, Reclaim, Tells, Unread, growth, holders, known,
};

use super::growing::{self, Growing};
use crate::output::{Answer, bytes};

/// Names in a sentence.
const NAMES_MAX: usize = 3;
/// A difference of this share between a table and `Slab:` is worth a sentence.
const DIFFERENCE_SHARE_MIN: f64 = 0.02;

/// What `slablab info` says of tables.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct HoldingAnswer {
    /// The files, in the order of their moments
    files: Vec<String>,
    /// The tables; the sentences are about the first
    tables: Vec<HeldTable>,
    /// The machine's own numbers of its memory at the last moment
    machine: Option<Machine>,
    /// Lines that look like a row and could not be read
    unread_lines: u64,
    /// The first of them
    unread: Vec<Unread>,
    /// What else to know
    notes: Vec<String>,
}

/// A table, and what it says.
#[derive(Debug, Serialize, JsonSchema)]
struct HeldTable {
    kind: Kind,
    /// Rows that were read
    rows: u64,
    /// Whether the heading is missing, so that rows may be missing, too
    may_be_cut: bool,
    moments: usize,
    /// From the first moment to the last, where times are known
    seconds: Option<f64>,
    /// Who holds the memory at the last moment
    #[serde(flatten)]
    holders: Holders,
    /// What becomes of each from moment to moment
    growth: Vec<Growth>,
}

impl HoldingAnswer {
    /// Judges the tables of `paste`, which come from `files`; moments that tell no time are `every_seconds` apart.
    pub(crate) fn new(
        files: Vec<String>,
        paste: Paste,
        every_seconds: Option<f64>,
        notes: Vec<String>,
    ) -> Self {
        let mut tables: Vec<HeldTable> = paste
            .tables
            .iter()
            .map(|table| {
                let time = |at: Option<&slablab_snapshot::Moment>| at?.time_seconds;
                let moments = table.moments.len();
                let told = time(table.moments.first()).zip(time(table.moments.last()));
                let apart = every_seconds.map(|every| every * (moments - 1) as f64);
                HeldTable {
                    kind: table.kind,
                    rows: table.rows,
                    may_be_cut: table.may_be_cut,
                    moments,
                    seconds: told.map(|(first, last)| last - first).or(apart),
                    holders: holders(table.last()),
                    growth: growth(&table.moments, every_seconds),
                }
            })
            .collect();
        // Caches come first, since the question is what holds memory; then live objects by who allocated them. Among
        // several lists of caches a series comes first, as it tells what grows, and then the one that holds most:
        // others are parts of it.
        tables.sort_by_key(|table| {
            let tells = match table.kind.tells() {
                Tells::Caches => 0,
                Tells::Live => 1,
                Tells::Flow => 2,
            };
            (tells, table.moments == 1, Reverse(table.holders.held_bytes))
        });
        let machine = paste.machine.last().copied();
        let (unread_lines, unread) = (paste.unread_lines, paste.unread);
        Self { files, tables, machine, unread_lines, unread, notes }
    }
}

impl Answer for HoldingAnswer {
    const SCHEMA: &'static str = "slablab.holding/1";

    fn document(&self) -> Document {
        let first = &self.tables[0];
        let mut sections = Vec::new();
        if first.moments > 1 {
            let table = Item::table("What grows", growing::HOW, first.growing().table());
            sections.push(Section::first("growth", "", vec![table]));
        }
        let held = Item::table("What holds it", first.how(), first.table());
        sections.push(Section::first("holders", "", vec![held]));
        if let Ok(commands) = first.next() {
            let title = "To name who allocates it, as root on that machine";
            sections.push(Section::first("next", title, vec![Item::Lines(commands)]));
        }
        sections.push(Section::named("about", "What is known of them", self.about()));
        let folders = folders(&first.holders.families);
        sections.push(Section::named("folders", "Folders of the source", vec![folders]));
        for (at, table) in self.tables.iter().enumerate().skip(1) {
            let item = Item::table(table.kind.name(), table.how(), table.table());
            sections.push(Section::named(
                &format!("table{}", at + 1),
                table.kind.name(),
                vec![item],
            ));
        }
        Document {
            title: format!("{}: what holds memory", self.files.join(", ")),
            question: "What holds the memory, does the kernel give it back, and does it grow?"
                .to_owned(),
            answers: self.sentences(),
            sections,
            source: self.source(),
            notes: self.notes(),
            facts: self.facts(),
            ..Document::default()
        }
    }
}

impl HoldingAnswer {
    fn sentences(&self) -> Vec<String> {
        let first = &self.tables[0];
        let mut sentences = vec![first.who(self.machine.as_ref())];
        sentences.extend(first.growing().sentence());
        sentences.extend(first.given_back());
        sentences.extend(first.what_it_is());
        sentences.extend(first.next().err());
        sentences
    }

    /// Says what was read, and of how many files.
    fn source(&self) -> String {
        let table = |table: &HeldTable| {
            let moments = match table.moments {
                1 => String::new(),
                moments => format!(" at {moments} moments"),
            };
            format!("{}, {}{moments}", table.kind.name(), counted(table.rows, "row"))
        };
        let tables: Vec<_> = self.tables.iter().map(table).collect();
        format!("From {}: {}.", self.files.join(", "), tables.join("; "))
    }

    /// Says what was not read, and which lists may lack rows.
    fn notes(&self) -> Vec<String> {
        let mut notes = self.notes.clone();
        notes.extend(self.tables[0].beside(self.machine.as_ref()));
        let cut = self.tables.iter().filter(|table| table.may_be_cut);
        let cut: Vec<_> = cut.map(|table| table.kind.name()).collect();
        if !cut.is_empty() {
            notes.push(format!(
                "The heading of {} is missing, so the list may be cut: sums are of the rows that are there.",
                cut.join(", ")
            ));
        }
        if let Some(first) = self.unread.first() {
            notes.push(format!(
                "{} like a row and could not be read, so sums lack them; the first is line {}: {}",
                match self.unread_lines {
                    1 => "1 line looks".to_owned(),
                    lines => format!("{lines} lines look"),
                },
                first.line,
                first.text
            ));
        }
        notes
    }

    fn facts(&self) -> Vec<Fact> {
        let mut facts = vec![Fact::new("files", self.files.join(", "))];
        let machine = self.machine.unwrap_or_default();
        let said = [
            ("memory", machine.memory_bytes),
            ("slabs, as the machine says", machine.slab_bytes()),
            ("of them reclaimable", machine.reclaimable_bytes),
            ("of them unreclaimable", machine.unreclaimable_bytes),
        ];
        let said = said.into_iter().filter_map(|(name, n)| Some(Fact::new(name, bytes(n?))));
        facts.extend(said);
        facts
    }

    /// Says what is known of the caches that hold most.
    fn about(&self) -> Vec<Item> {
        let families = self.tables.iter().flat_map(|table| table.holders.families.iter().take(20));
        let about = families.filter_map(|family| {
            let cache = known(&family.name)?;
            Some(Item::Text(format!("{}: {} ({}).", family.name, cache.about, cache.source)))
        });
        about.collect()
    }
}

/// Returns names as a sentence lists them: the first few, and how many more there are.
fn listed(names: &[&str], all: usize) -> String {
    let more = all - names.len();
    match (names, more) {
        ([one], 0) => (*one).to_owned(),
        ([rest @ .., last], 0) => format!("{} and {last}", rest.join(", ")),
        (names, more) => format!("{} and {more} more", names.join(", ")),
    }
}

impl HeldTable {
    fn growing(&self) -> Growing<'_> {
        Growing {
            growth: &self.growth,
            families: &self.holders.families,
            noun: self.noun(),
            moments: self.moments,
            seconds: self.seconds,
        }
    }

    /// Returns what an entry is called.
    fn noun(&self) -> &'static str {
        if self.kind.tells() == Tells::Caches { "cache" } else { "call site" }
    }

    /// Says who holds most of it.
    fn who(&self, machine: Option<&Machine>) -> String {
        let Holders { held_bytes, families, most, .. } = &self.holders;
        let Some(first) = families.first() else { return "The table has no entry.".to_owned() };
        let most = &families[..(*most).max(1)];
        let names: Vec<_> =
            most.iter().take(NAMES_MAX).map(|family| family.name.as_str()).collect();
        let of_most: u64 = most.iter().filter_map(|family| family.held_bytes).sum();
        let share = 100.0 * of_most as f64 / (*held_bytes).max(1) as f64;
        let names = listed(&names, most.len());
        let (hold, allocated) = match most.len() {
            1 => ("holds", "has"),
            _ => ("hold", "have"),
        };
        let memory = match machine.and_then(|machine| machine.memory_bytes) {
            Some(memory) => format!(", on a machine of {}", bytes(memory)),
            None => String::new(),
        };
        match self.kind.tells() {
            _ if *held_bytes == 0 => format!(
                "{} {}; how many bytes an object has is not in the table.",
                first.name,
                of_objects(first)
            ),
            Tells::Caches => format!(
                "{names} {hold} {} of the {} in the slabs that are listed ({share:.0} %){memory}.",
                bytes(of_most),
                bytes(*held_bytes)
            ),
            Tells::Live => format!(
                "{names} {hold} {} of the {} that are listed ({share:.0} %){memory}.",
                bytes(of_most),
                bytes(*held_bytes)
            ),
            Tells::Flow => format!(
                "{names} {allocated} {} of the {} that were allocated ({share:.0} %); how much of it is still there, the \
                 table does not tell.",
                bytes(of_most),
                bytes(*held_bytes)
            ),
        }
    }

    /// Says which part the kernel gives back under pressure.
    fn given_back(&self) -> Option<String> {
        let Holders { held_bytes, given_back_bytes, kept_bytes, unused_bytes, .. } = self.holders;
        if self.kind.tells() != Tells::Caches || held_bytes == 0 {
            return None;
        }
        let unknown = held_bytes.saturating_sub(given_back_bytes).saturating_sub(kept_bytes);
        let parts = [
            (
                given_back_bytes,
                "can be given back when memory is short (names of files, inodes, buffers)",
            ),
            (kept_bytes, "stay until their users free them"),
            (unknown, "belong to caches whose names do not tell"),
        ];
        let parts = parts.iter().filter(|(part, _)| *part > 0);
        let parts: Vec<_> = parts.map(|(part, what)| format!("{} {what}", bytes(*part))).collect();
        let room = match unused_bytes {
            0 => String::new(),
            unused => format!(" {} of all is room that no object has.", bytes(unused)),
        };
        Some(format!("{}.{room}", parts.join("; ")))
    }

    /// Says what is known of the cache that holds most.
    fn what_it_is(&self) -> Option<String> {
        let first = self.holders.families.first()?;
        let cache = known(&first.name)?;
        Some(format!("{}: {}.", first.name, cache.about))
    }

    /// Compares the sum of the table with what the machine says.
    fn beside(&self, machine: Option<&Machine>) -> Option<String> {
        let machine = machine?;
        let slabs = match self.kind {
            Kind::Oom => machine.unreclaimable_bytes?,
            _ if self.kind.tells() == Tells::Caches => machine.slab_bytes()?,
            _ => return None,
        };
        let held = self.holders.held_bytes;
        let difference = slabs as f64 - held as f64;
        if difference.abs() < DIFFERENCE_SHARE_MIN * slabs as f64 {
            return None;
        }
        Some(match difference > 0.0 {
            true => format!(
                "The machine counts {} in slabs, {} more than the list: rows that are missing, or blocks of more than two \
                 pages, which kmalloc takes from the page allocator.",
                bytes(slabs),
                bytes(difference as u64)
            ),
            false => format!(
                "The machine counts {} in slabs, {} less than the list: they were read at different times, or pages have \
                 another size.",
                bytes(slabs),
                bytes(-difference as u64)
            ),
        })
    }

    /// Returns what to type next, or in a sentence what else there is to do.
    fn next(&self) -> Result<Vec<String>, String> {
        let grows = self.growing().suspect();
        let Some(first) = self.holders.families.first() else {
            return Err("Nothing is known that would help on.".to_owned());
        };
        let name = grows.map_or(first.name.as_str(), |growth| growth.name.as_str());
        let plain = name.split('(').next().unwrap_or(name);
        match self.kind {
            Kind::Slabinfo1 => Err(
                "Linux 2.4 has no events to record: save the table again later and give both, and \
                                    what grows is shown."
                    .to_owned(),
            ),
            Kind::Allocinfo => {
                let place = self.holders.families.iter().find(|family| family.name == name);
                Err(format!(
                    "The line that allocates is known: {}.",
                    place.map_or(name, |family| &family.place)
                ))
            }
            Kind::Cgroup => Err("The programs of the group that grows are asked next.".to_owned()),
            Kind::AllocTraces | Kind::Kmemleak | Kind::Memleak | Kind::PageOwner => {
                Err("The stacks name who allocates. \
                 Take the table again later: what grows is a leak, or a cache that fills."
                    .to_owned())
            }
            Kind::Slabratetop | Kind::PerfKmem => {
                Ok(vec!["slablab info /proc/slabinfo".to_owned()])
            }
            _ if grows.is_none() && first.reclaim == Reclaim::GivenBack => Err(format!(
                "{} is a cache and no leak as long as the kernel can give it back: `echo 2 > /proc/sys/vm/drop_caches`, \
                 as root on that machine, shows how much that is.",
                first.name
            )),
            _ if KmallocCache::parse(plain).is_some() || plain.contains('*') => Ok(vec![
                "slablab record --duration 10".to_owned(),
                format!("slablab stat slablab.parquet --cache {}", shell::word(plain)),
            ]),
            _ => Ok(vec![
                format!("slablab record --caches {} --duration 10", shell::word(plain)),
                "slablab stat slablab.parquet".to_owned(),
            ]),
        }
    }

    fn how(&self) -> &'static str {
        match self.kind.tells() {
            Tells::Caches => {
                "Held: bytes of the slabs. Unused: bytes of slabs that no object has. Given back: whether the kernel frees \
                 unused objects when memory is short, by the table's flags or the cache's name."
            }
            Tells::Live => {
                "Held: bytes of the objects that are alive. Pages of slabs are not added to their objects."
            }
            Tells::Flow => "Bytes that were allocated, freed or not.",
        }
    }

    fn table(&self) -> Table {
        let all = self.holders.held_bytes;
        let maybe = |n: Option<u64>, cell: fn(u64) -> Cell| n.map_or(Cell::Missing, cell);
        let mut fields = vec![
            field::name(self.noun(), "name", |family: &Family| &family.name),
            field::by("held", "held_bytes", move |f: &Family| maybe(f.held_bytes, Cell::Bytes)),
            field::by("share", "held_share", move |f: &Family| match f.held_bytes {
                Some(held) => Cell::share(held, all),
                None => Cell::Missing,
            }),
            field::by("objects", "objects", move |f: &Family| maybe(f.objects, Cell::Count)),
        ];
        if self.kind.tells() == Tells::Caches {
            fields.extend([
                field::by("object", "object_bytes", move |f: &Family| {
                    maybe(f.object_bytes, Cell::Bytes)
                })
                .where_room(),
                field::by("unused", "unused_bytes", move |f: &Family| {
                    maybe(f.unused_bytes, Cell::Bytes)
                }),
                field::text("given back", "reclaim", |f: &Family| {
                    match f.reclaim {
                        Reclaim::GivenBack => "yes",
                        Reclaim::Kept => "no",
                        Reclaim::Unknown => "not known",
                    }
                    .to_owned()
                }),
            ]);
        } else {
            fields.extend([
                field::by("wasted", "waste_bytes", move |f: &Family| {
                    maybe(f.waste_bytes, Cell::Bytes)
                })
                .where_room(),
                field::name("place", "place", |f: &Family| &f.place),
            ]);
        }
        Table::of_fields(&self.holders.families, fields)
    }
}

/// Returns the table of the folders of the source in which entries allocate.
fn folders(families: &[Family]) -> Item {
    let mut sums: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for family in families {
        let Some((folder, _)) = family.place.rsplit_once('/') else { continue };
        let sum = sums.entry(folder.trim_start_matches("./")).or_default();
        sum.0 = sum.0.saturating_add(family.held_bytes.unwrap_or(0));
        sum.1 = sum.1.saturating_add(family.objects.unwrap_or(0));
    }
    let mut rows: Vec<(&str, (u64, u64))> = sums.into_iter().collect();
    rows.sort_by_key(|(_, (held, _))| Reverse(*held));
    let fields = [
        field::name("folder", "folder", |(folder, _): &(&str, (u64, u64))| folder),
        field::bytes("held", "held_bytes", |(_, (held, _))| *held),
        field::count("objects", "objects", |(_, (_, objects))| *objects),
    ];
    Item::table("", "", Table::of(&rows, fields))
}

/// Says how many objects a family has, and what they waste.
fn of_objects(family: &Family) -> String {
    let objects = match family.objects {
        Some(objects) => format!("has {}", counted(objects, "object")),
        None => "is named first".to_owned(),
    };
    match family.waste_bytes {
        Some(waste) => format!("{objects} and wastes {}", bytes(waste)),
        None => objects,
    }
}
