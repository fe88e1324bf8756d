//! What holds slab memory, and whether it grows: the answer about tables that a user pasted, saved or logged.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

use serde::Serialize;
use slablab_report::{Document, Fact, Item, Section, Table, counted, field};
use slablab_snapshot::{Family, Kind, Machine, Pace, Paste, Tells, Unread, apart, known};

use super::free::FreeAnswer;
use super::growing;
use super::held_table::HeldTable;
use crate::output::{Answer, bytes};

/// From one lost row in as many on, the answer says that rows are lost.
const UNREAD_SHARE_ONE_IN: u64 = 20;

/// What `slablab info` says of tables.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct HoldingAnswer {
    /// The files, in the order of their moments
    files: Vec<String>,
    /// The tables; the sentences are about the first
    tables: Vec<HeldTable>,
    /// The machine's own numbers of its memory at the last moment, of several hosts those of the first table
    machine: Option<Machine>,
    /// Lines that look like a row and could not be read
    unread_lines: u64,
    /// The first of them
    unread: Vec<Unread>,
    /// The free blocks of pages, where the text has lists of them
    #[serde(skip_serializing_if = "Option::is_none")]
    free: Option<FreeAnswer>,
    /// What else to know
    notes: Vec<String>,
}

impl HoldingAnswer {
    /// Judges the tables of `paste`, which come from `files`; moments that tell no time are `every_seconds` apart.
    pub(crate) fn new(
        files: Vec<String>,
        paste: Paste,
        every_seconds: Option<f64>,
        notes: Vec<String>,
    ) -> Self {
        let machine = |host: &Option<String>| {
            let said = paste.machine.iter().rfind(|said| said.host == *host);
            said.map(|said| said.machine)
        };
        let free = (!paste.free.is_empty()).then(|| FreeAnswer::new(files.clone(), &paste));
        let judge = |table: &slablab_snapshot::Table| (apart(&paste, table), machine(&table.host));
        let judged: Vec<_> = paste.tables.iter().map(judge).collect();
        let has_hosts = paste.tables.iter().any(|table| table.host.is_some());
        let tables = paste.tables.into_iter().zip(judged);
        let mut tables: Vec<HeldTable> = tables
            .map(|(table, (apart, machine))| HeldTable::new(table, every_seconds, apart, machine))
            .collect();
        // Caches come first, since the question is what holds memory; then live objects by who allocated them. Among
        // several lists of caches a series comes first, as it tells what grows, and then the one that holds most:
        // others are parts of it. Of several hosts one on which something grows comes first.
        tables.sort_by_key(|table| {
            let tells = match table.kind.tells() {
                Tells::Caches => 0,
                Tells::Live => 1,
                Tells::Flow => 2,
                Tells::Totals => 3,
            };
            let is_flat =
                has_hosts && !table.growth.iter().any(|growth| growth.pace == Pace::Grows);
            (tells, table.moments == 1, is_flat, Reverse(table.holders.held_bytes))
        });
        let machine = tables.first().and_then(|table| table.machine);
        let (unread_lines, unread) = (paste.unread_lines, paste.unread);
        Self { files, tables, machine, unread_lines, unread, free, notes }
    }
}

impl Answer for HoldingAnswer {
    const SCHEMA: &'static str = "slablab.holding/1";

    fn document(&self) -> Document {
        let first = &self.tables[0];
        let mut sections = Vec::new();
        if !first.growth.is_empty() {
            let table = Item::table("What grows", growing::HOW, first.growing().table());
            sections.push(Section::first("growth", "", vec![table]));
        }
        let held = Item::table("What holds it", first.how(), first.table());
        sections.push(Section::first("holders", "", vec![held]));
        if let Ok(commands) = first.next() {
            let title = match first.kind {
                Kind::Meminfo => {
                    "Which caches hold it, meminfo does not tell; as root on that machine"
                }
                _ => "To name who allocates it, as root on that machine",
            };
            sections.push(Section::first("next", title, vec![Item::Lines(commands)]));
        }
        sections.push(Section::named("about", "What is known of them", self.about()));
        let folders = folders(&first.holders.families);
        sections.push(Section::named("folders", "Folders of the source", vec![folders]));
        for (at, table) in self.tables.iter().enumerate().skip(1) {
            let grows = (!table.growth.is_empty()).then(|| {
                let title = format!("What grows in {}", table.name());
                Item::table(title, growing::HOW, table.growing().table())
            });
            let held = Item::table(table.name(), table.how(), table.table());
            let name = format!("table{}", at + 1);
            let items = grows.into_iter().chain([held]).collect();
            sections.push(Section::named(&name, table.name(), items));
        }
        for (name, item) in self.free.iter().flat_map(FreeAnswer::tables) {
            sections.push(Section::named(name, "", vec![item]));
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
        let hosts = self.hosts();
        // Parts of a machine, such as cgroups, stand behind what is told of all of it.
        if hosts.len() > 1 && first.host.is_some() {
            let mut sentences = self.of_hosts(&hosts);
            sentences.extend(self.unread_share());
            return sentences;
        }
        let mut sentences = vec![first.who()];
        sentences.extend(self.growth(first));
        sentences.extend(self.unread_share());
        sentences.extend(first.given_back());
        sentences.extend(first.what_it_is());
        sentences.extend(first.next().err());
        sentences
    }

    /// Returns the hosts that have tables, in their order; nothing where the text names none or one.
    fn hosts(&self) -> Vec<&str> {
        let mut hosts: Vec<&str> = Vec::new();
        for host in self.tables.iter().filter_map(|table| table.host.as_deref()) {
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        hosts
    }

    /// Says of each host who holds most of it, and what grows there.
    fn of_hosts(&self, hosts: &[&str]) -> Vec<String> {
        /// Hosts that have a sentence.
        const HOSTS_MAX: usize = 3;
        let of = |host: &str| {
            let table = self.tables.iter().find(|table| table.host.as_deref() == Some(host))?;
            let grows = self.growth(table).map_or_else(String::new, |said| format!(" {said}"));
            Some(format!("{host}: {}{grows}", table.who()))
        };
        let mut said: Vec<String> =
            hosts.iter().filter_map(|host| of(host)).take(HOSTS_MAX).collect();
        let more = match hosts.len().saturating_sub(HOSTS_MAX) {
            0 => String::new(),
            1 => " One more has its table with --all.".to_owned(),
            more => format!(" {more} more have their tables with --all."),
        };
        let noun = if self.tables[0].kind == Kind::MemoryStat { "cgroup" } else { "host" };
        said.push(format!(
            "The text names {} ({}), and their tables are not compared as moments of one. If they are one, leave the names \
             out.{}",
            counted(hosts.len() as u64, noun),
            hosts.iter().take(HOSTS_MAX).copied().collect::<Vec<_>>().join(", "),
            more
        ));
        said
    }

    /// Says what grows, by the table and by its machine's own totals; or why that cannot be told.
    fn growth(&self, table: &HeldTable) -> Option<String> {
        let is_total = |other: &&HeldTable| other.kind == Kind::Meminfo && other.host == table.host;
        let totals = self.tables.iter().filter(|_| table.kind != Kind::Meminfo).find(is_total);
        let totals = totals.and_then(|table| growing::kept(&table.growth));
        let said = table.growth_sentence().into_iter().chain(totals).collect::<Vec<_>>();
        (!said.is_empty()).then(|| said.join(" "))
    }

    /// Says so among the answers if a good part of the rows could not be read.
    fn unread_share(&self) -> Option<String> {
        let rows: u64 = self.tables.iter().map(|table| table.rows).sum();
        let all = rows + self.unread_lines;
        (self.unread_lines * UNREAD_SHARE_ONE_IN >= all).then(|| {
            format!(
                "{} of {} could not be read, so these sums are too low.",
                self.unread_lines,
                counted(all, "row")
            )
        })
    }

    /// Says what was read, and of how many files.
    fn source(&self) -> String {
        let table = |table: &HeldTable| {
            let moments = match table.moments {
                1 => String::new(),
                moments => format!(" at {moments} moments"),
            };
            format!("{}, {}{moments}", table.name(), counted(table.rows, "row"))
        };
        let tables: Vec<_> = self.tables.iter().map(table).collect();
        format!("From {}: {}.", self.files.join(", "), tables.join("; "))
    }

    /// Says what was not read, and which lists may lack rows.
    fn notes(&self) -> Vec<String> {
        let mut notes = self.notes.clone();
        notes.extend(self.free.as_ref().and_then(FreeAnswer::note));
        let first = &self.tables[0];
        if let Some(one) = first.host.as_ref().filter(|_| self.hosts().len() > 1) {
            notes.push(format!(
                "The first table, which a CSV has, is of {one}; --show table2 and so on are those of others."
            ));
        }
        notes.extend(first.beside().map(|said| match &first.host {
            Some(host) => format!("{host}: {said}"),
            None => said,
        }));
        let cut = self.tables.iter().filter(|table| table.may_be_cut);
        let mut cut: Vec<_> = cut.map(|table| table.kind.name()).collect();
        cut.dedup();
        if !cut.is_empty() {
            notes.push(format!(
                "The list of {} may be cut, as its heading is missing or a line says so: sums are of the rows that are \
                 there.",
                cut.join(", ")
            ));
        }
        notes.extend(first.left_out());
        for table in self.tables.iter().filter(|table| table.has_cut_names) {
            notes.push(format!(
                "The terminal cut names of {}, which end in \u{2026}: caches whose names are left alike are added up.",
                table.name()
            ));
        }
        for table in self.tables.iter().filter(|table| table.partial_moments > 0) {
            notes.push(format!(
                "{} of {} with less than half of the rows: what holds memory is told of the list before.",
                match table.partial_moments {
                    1 => "A later list".to_owned(),
                    lists => format!("{lists} later lists"),
                },
                table.name()
            ));
        }
        if !first.growth.is_empty() && first.seconds.is_none() {
            let why = match first.times_fall {
                true => {
                    "The times of the moments do not rise from one to the next, as those of several machines or of a list \
                     that was read twice, and were not used: --every 60s gives the time between them."
                }
                false => "The moments tell no time that was understood: --every 60s gives it.",
            };
            notes.push(why.to_owned());
        }
        for table in self.tables.iter().filter(|table| table.earlier_boots > 0) {
            notes.push(format!(
                "The machine booted between tables of {}: those before the last boot were left out, as growth does not go on \
                 over a boot.",
                table.name()
            ));
        }
        for table in self.tables.iter().filter(|table| table.lost_moments > 0) {
            let of = counted(table.moments as u64, "moment");
            let lost = match table.lost_moments {
                1 => "1 has".to_owned(),
                lost => format!("{lost} have"),
            };
            notes
                .push(format!("Of {of} of {}, {lost} no row that can be read.", table.kind.name()));
        }
        if let Some(first) = self.unread.first() {
            notes.push(format!(
                "{} like a row and could not be read, so sums lack them; the first is {}line {}: {}",
                match self.unread_lines {
                    1 => "1 line looks".to_owned(),
                    lines => format!("{lines} lines look"),
                },
                match &first.file {
                    Some(file) => format!("{file}, "),
                    None => String::new(),
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
            Some(format!("{}: {} ({}).", family.name, cache.about, cache.source))
        });
        let mut seen = HashSet::new();
        about.filter(|text| seen.insert(text.clone())).map(Item::Text).collect()
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
