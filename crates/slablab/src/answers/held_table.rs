//! One table of slab memory: who holds most of it, what the kernel gives back, and what to type next.

use std::collections::BTreeMap;

use serde::Serialize;
use slablab_host::shell;
use slablab_linux::KmallocCache;
use slablab_report::{Cell, Table, counted, field};
use slablab_snapshot::{
    Apart, Entry, Family, Growth, Holders, Kind, Machine, Moment, Paste, Reclaim, Tells, apart,
    growth, holders, iso_time, known,
};

use super::growing::{self, Growing};
use crate::output::bytes;

/// From this number on moments tell a step from a rise.
const MOMENTS_TELLING: usize = 5;
/// Names in a sentence.
const NAMES_MAX: usize = 3;
/// A difference of this share between a table and `Slab:` is worth a sentence.
const DIFFERENCE_SHARE_MIN: f64 = 0.02;

/// A table, and what it says.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(super) struct HeldTable {
    pub(super) kind: Kind,
    /// Whose it is, where the text names several hosts
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) host: Option<String>,
    /// Rows that were read
    pub(super) rows: u64,
    /// Whether the heading is missing, so that rows may be missing, too
    pub(super) may_be_cut: bool,
    /// Whether a terminal cut names of caches
    #[serde(skip_serializing_if = "is_false")]
    pub(super) has_cut_names: bool,
    /// Whether times of its moments do not rise, and were not used
    #[serde(skip_serializing_if = "is_false")]
    pub(super) times_fall: bool,
    pub(super) moments: usize,
    /// Moments without a readable row
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) lost_moments: usize,
    /// Later moments with less than half of the rows, which do not tell what holds memory
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) partial_moments: usize,
    /// From the first moment to the last, where times are known
    pub(super) seconds: Option<f64>,
    /// Who holds the memory at the last moment
    #[serde(flatten)]
    pub(super) holders: Holders,
    /// What shows that its moments are not of one machine or kernel
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) apart: Option<Apart>,
    /// Boots of the machine before the one that the moments are of, which were left out
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) earlier_boots: usize,
    /// The machine's own numbers of its memory at the last moment
    #[serde(skip)]
    pub(super) machine: Option<Machine>,
    /// What becomes of each from moment to moment
    pub(super) growth: Vec<Growth>,
}

impl HeldTable {
    /// Judges a table of a machine that says `machine` of its memory; `apart` shows that its moments are not to be compared.
    pub(super) fn new(
        table: slablab_snapshot::Table,
        every_seconds: Option<f64>,
        apart: Option<Apart>,
        machine: Option<Machine>,
    ) -> Self {
        // Who gives the time between the moments says that they are of one machine.
        let apart = apart.filter(|apart| {
            !matches!(apart, Apart::Machines(..) | Apart::Words(..)) || every_seconds.is_none()
        });
        let time = |at: Option<&Moment>| at?.time_seconds;
        let moments = table.moments.len();
        let told = time(table.moments.first()).zip(time(table.moments.last()));
        let every = every_seconds.map(|every| every * (moments - 1) as f64);
        let is_lost = |moment: &Moment| moment.entries.is_empty();
        let lost_moments = table.moments.iter().filter(|moment| is_lost(moment)).count();
        let growth = match &apart {
            // How much was allocated in an interval tells nothing of what is held.
            _ if table.kind.tells() == Tells::Flow => Vec::new(),
            // Memory that came or went once does not hide what many moments show.
            Some(Apart::Memory(..)) if moments >= MOMENTS_TELLING => {
                growth(&table.moments, every_seconds)
            }
            Some(Apart::Machines(..) | Apart::Objects(..) | Apart::Memory(..)) => Vec::new(),
            Some(Apart::Words(..)) | None => growth(&table.moments, every_seconds),
        };
        let (held, partial_moments) = match table.kind {
            Kind::SlubFailed => (last_of_each(table.moments), 0),
            _ => last_whole(table.moments),
        };
        Self {
            kind: table.kind,
            host: table.host,
            rows: table.rows,
            may_be_cut: table.may_be_cut,
            has_cut_names: table.has_cut_names,
            times_fall: table.times_fall,
            moments,
            lost_moments,
            earlier_boots: table.earlier_boots,
            seconds: told.map(|(first, last)| last - first).or(every),
            apart,
            machine,
            growth,
            partial_moments,
            holders: holders(held),
        }
    }

    /// Judges a machine's slabinfo at several moments, in milliseconds since 1970.
    ///
    /// # Errors
    /// If the moments are not of one kernel or too near to each other, in a sentence.
    pub(super) fn of_slabinfo(moments: &[(u64, &str)]) -> Result<Self, String> {
        let time = |ms: u64| {
            let seconds = iso_time(ms / 1000);
            format!("{}.{:03}Z", seconds.trim_end_matches('Z'), ms % 1000)
        };
        let text: String =
            moments.iter().map(|(ms, slabinfo)| format!("{}\n{slabinfo}", time(*ms))).collect();
        let unread = || "What grew between them cannot be told, as their slabinfo has no row.";
        let paste = Paste::read(text.as_bytes()).map_err(|_| unread())?;
        let is_slabinfo = |table: &&slablab_snapshot::Table| table.kind == Kind::Slabinfo;
        let table = paste.tables.iter().find(is_slabinfo).ok_or_else(unread)?;
        let table = Self::new(table.clone(), None, apart(&paste, table), None);
        match &table.apart {
            Some(apart) => Err(growing::apart(apart, false)),
            None if table.seconds.is_none() => {
                Err("What grew between them cannot be told, as less than a second lies \
                                                    between their first begin and their last end."
                    .to_owned())
            }
            None => Ok(table),
        }
    }

    /// Says what grows, or why that cannot be told.
    pub(super) fn growth_sentence(&self) -> Option<String> {
        if self.kind.tells() == Tells::Flow {
            return None;
        }
        let apart = self.apart.as_ref().filter(|_| self.moments > 1);
        let doubt = apart.map(|apart| growing::apart(apart, !self.growth.is_empty()));
        let said = if self.growth.is_empty() && apart.is_some() {
            None
        } else {
            self.growing().sentence()
        };
        let all: Vec<String> = doubt.into_iter().chain(said).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    pub(super) fn growing(&self) -> Growing<'_> {
        Growing {
            growth: &self.growth,
            families: &self.holders.families,
            noun: self.noun(),
            moments: self.moments,
            seconds: self.seconds,
        }
    }

    /// Returns the table's name, and its host where there are several.
    pub(super) fn name(&self) -> String {
        match &self.host {
            Some(host) => format!("{} of {host}", self.kind.name()),
            None => self.kind.name().to_owned(),
        }
    }

    /// Returns what an entry is called.
    pub(super) fn noun(&self) -> &'static str {
        match self.kind.tells() {
            Tells::Caches => "cache",
            Tells::Totals => "part",
            Tells::Flow if self.kind == Kind::Slabratetop => "cache",
            Tells::Live | Tells::Flow => "call site",
        }
    }

    /// Says who holds most of it.
    pub(super) fn who(&self) -> String {
        let machine = self.machine.as_ref();
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
        // A list that was cut later on does not tell what holds memory now.
        let when = if self.partial_moments > 0 { "At an earlier moment " } else { "" };
        match self.kind.tells() {
            _ if *held_bytes == 0 => format!(
                "{} {}; how many bytes an object has is not in the table.",
                first.name,
                of_objects(first)
            ),
            Tells::Totals if families.len() == 1 && first.reclaim != Reclaim::Unknown => {
                format!(
                    "{} holds {}{memory}; the other part of the slabs is not in the text.",
                    first.name,
                    bytes(*held_bytes)
                )
            }
            Tells::Totals if self.kind == Kind::MemoryStat => {
                format!("Slabs that the cgroup is charged for hold {}.", bytes(*held_bytes))
            }
            Tells::Totals => match machine.and_then(|machine| machine.memory_bytes) {
                Some(memory) => format!(
                    "Slabs hold {} of {} of memory ({:.0} %).",
                    bytes(*held_bytes),
                    bytes(memory),
                    100.0 * *held_bytes as f64 / memory.max(1) as f64
                ),
                None => format!("Slabs hold {}.", bytes(*held_bytes)),
            },
            Tells::Caches if families.len() == 1 => {
                format!(
                    "{names} {hold} {}; it is the only cache of the list{memory}.",
                    bytes(of_most)
                )
            }
            Tells::Caches => format!(
                "{when}{names} {hold} {} of the {} in the slabs that are listed ({share:.0} %){memory}.",
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
    pub(super) fn given_back(&self) -> Option<String> {
        let Holders { held_bytes, given_back_bytes, kept_bytes, unused_bytes, .. } = self.holders;
        if !matches!(self.kind.tells(), Tells::Caches | Tells::Totals) || held_bytes == 0 {
            return None;
        }
        let unknown = held_bytes.saturating_sub(given_back_bytes).saturating_sub(kept_bytes);
        let untold = match self.kind.tells() {
            Tells::Totals => "are of either kind: the table does not tell",
            _ => "belong to caches whose names do not tell",
        };
        let parts = [
            (
                given_back_bytes,
                "can be given back when memory is short (names of files, inodes, buffers)",
            ),
            (kept_bytes, "stay until their users free them"),
            (unknown, untold),
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
    pub(super) fn what_it_is(&self) -> Option<String> {
        let first = self.holders.families.first()?;
        let cache = known(&first.name)?;
        Some(format!("{}: {}.", first.name, cache.about))
    }

    /// Says what the sums of the table do not have.
    pub(super) fn left_out(&self) -> Option<String> {
        let Holders { held_bytes, slab_page_bytes, unknown_entries, .. } = self.holders;
        if slab_page_bytes > 0 {
            return Some(format!(
                "Pages of slabs ({}, which the allocator itself takes) are not added: the objects in them are listed.",
                bytes(slab_page_bytes)
            ));
        }
        (unknown_entries > 0 && held_bytes > 0).then(|| {
            format!(
                "How many bytes {} has is not in the table, so that sums lack it.",
                match unknown_entries {
                    1 => "1 entry".to_owned(),
                    entries => format!("each of {entries} entries"),
                }
            )
        })
    }

    /// Compares the sum of the table with what the machine says.
    pub(super) fn beside(&self) -> Option<String> {
        let machine = self.machine?;
        if let (Kind::Slabtop, Some(all)) = (self.kind, machine.caches_bytes) {
            let missing = all.saturating_sub(self.holders.held_bytes);
            let is_large = missing as f64 > DIFFERENCE_SHARE_MIN * all as f64;
            return is_large.then(|| {
                format!(
                    "The head of slabtop counts {} in all caches: {} are of caches that are not in the list.",
                    bytes(all),
                    bytes(missing)
                )
            });
        }
        let slabs = match self.kind {
            Kind::Oom => machine.unreclaimable_bytes?,
            // It is a list of one cache.
            Kind::SlubFailed => return None,
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
    pub(super) fn next(&self) -> Result<Vec<String>, String> {
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
            Kind::MemoryStat => Err("The kernel does not list the caches of a cgroup: `slablab leaks`, as root on that \
                                     machine, names programs and owners."
                .to_owned()),
            Kind::Cgroup => Err("The programs of the group that grows are asked next.".to_owned()),
            Kind::AllocTraces | Kind::Kmemleak | Kind::Memleak | Kind::PageOwner => {
                Err("The stacks name who allocates. \
                 Take the table again later: what grows is a leak, or a cache that fills."
                    .to_owned())
            }
            Kind::Slabratetop | Kind::PerfKmem | Kind::Meminfo => {
                Ok(vec!["slablab info /proc/slabinfo".to_owned()])
            }
            Kind::Spl => Err("ZFS has these slabs of its own, whose objects the kernel's events do not show: save \
                              /proc/spl/kmem/slab again later and give both, and what grows is shown."
                .to_owned()),
            _ if grows.is_none() && first.reclaim == Reclaim::GivenBack => Err(format!(
                "{} is a cache and no leak as long as the kernel can give it back: `echo {} > /proc/sys/vm/drop_caches`, \
                 as root on that machine, shows how much that is.",
                first.name,
                // These go with the pages of files.
                if matches!(first.name.as_str(), "radix_tree_node" | "buffer_head") { 3 } else { 2 }
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

    pub(super) fn how(&self) -> &'static str {
        match self.kind.tells() {
            Tells::Caches => {
                "Held: bytes of the slabs. Unused: bytes of slabs that no object has. Given back: whether the kernel frees \
                 unused objects when memory is short, by the table's flags or the cache's name."
            }
            Tells::Live => {
                "Held: bytes of the objects that are alive. Pages of slabs are not added to their objects."
            }
            Tells::Flow => "Bytes that were allocated, freed or not.",
            Tells::Totals => "The two halves of the slabs, as the kernel counts them.",
        }
    }

    /// Returns the heading of the bytes.
    fn held_head(&self) -> &'static str {
        if self.kind.tells() == Tells::Flow { "allocated" } else { "held" }
    }

    pub(super) fn table(&self) -> Table {
        let all = self.holders.held_bytes;
        let maybe = |n: Option<u64>, cell: fn(u64) -> Cell| n.map_or(Cell::Missing, cell);
        let mut fields = vec![
            field::name(self.noun(), "name", |family: &Family| &family.name),
            field::by(self.held_head(), "held_bytes", move |f: &Family| {
                maybe(f.held_bytes, Cell::Bytes)
            }),
            field::by("share", "held_share", move |f: &Family| match f.held_bytes {
                Some(held) => Cell::share(held, all),
                None => Cell::Missing,
            }),
            field::by("objects", "objects", move |f: &Family| maybe(f.objects, Cell::Count)),
        ];
        let given_back = field::text("given back", "reclaim", |f: &Family| {
            match f.reclaim {
                Reclaim::GivenBack => "yes",
                Reclaim::Kept => "no",
                Reclaim::Unknown => "not known",
            }
            .to_owned()
        });
        if self.kind.tells() == Tells::Totals {
            fields.pop();
            fields.push(given_back);
        } else if self.kind.tells() == Tells::Caches {
            fields.extend([
                field::by("object", "object_bytes", move |f: &Family| {
                    maybe(f.object_bytes, Cell::Bytes)
                })
                .where_room(),
                field::by("unused", "unused_bytes", move |f: &Family| {
                    maybe(f.unused_bytes, Cell::Bytes)
                }),
                given_back,
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
        Table::of_many(&self.holders.families, fields)
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

/// Returns the last moment that has at least half as many entries as any, and how many later ones have fewer: a list that
/// was cut does not tell what holds memory.
fn last_whole(mut moments: Vec<Moment>) -> (Moment, usize) {
    let most = moments.iter().map(|moment| moment.entries.len()).max().unwrap_or(0);
    let is_whole = |moment: &Moment| moment.entries.len() * 2 >= most;
    let Some(at) = moments.iter().rposition(is_whole) else { return (Moment::default(), 0) };
    let partial = moments[at + 1..].iter().filter(|moment| !moment.entries.is_empty()).count();
    (moments.swap_remove(at), partial)
}

/// Returns the last that moments tell of each entry, where one moment tells of one entry.
fn last_of_each(moments: Vec<Moment>) -> Moment {
    let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
    for entry in moments.into_iter().flat_map(|moment| moment.entries) {
        entries.insert(entry.name.clone(), entry);
    }
    Moment { time_seconds: None, entries: entries.into_values().collect() }
}

/// Returns whether a fact is not worth a field.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(fact: &bool) -> bool {
    !*fact
}

/// Returns whether a count is not worth a field.
fn is_zero(count: &usize) -> bool {
    *count == 0
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
