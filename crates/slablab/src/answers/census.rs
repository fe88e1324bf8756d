//! A census of the running kernel: where the free objects of each cache lie, and how full its slabs are.

use serde::Serialize;
use slablab_census::{CacheCensus, Census, FULLNESS, Lying};
use slablab_report::{
    Cell, Document, Fact, Item, Section, Table, counted, field, short, thousands,
};

use crate::output::{Answer, duration};

/// Caches that a sentence names.
const NAMED_MAX: usize = 3;

/// Headings and keys of the classes of slabs by the share of their objects in use.
const CLASSES: [(&str, &str); FULLNESS] = [
    ("empty", "slabs_empty"),
    ("under 1/4", "slabs_under_quarter"),
    ("under 1/2", "slabs_under_half"),
    ("under 3/4", "slabs_under_three_quarters"),
    ("under all", "slabs_under_all"),
    ("full", "slabs_full"),
];

/// What `slablab info --census` answers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "manual", derive(schemars::JsonSchema))]
pub(crate) struct CensusAnswer {
    /// Release of the running kernel
    pub(crate) kernel_release: String,
    #[serde(flatten)]
    pub(crate) census: Census,
}

impl CensusAnswer {
    /// Names the running kernel beside its census.
    pub(crate) fn now(census: Census) -> Self {
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Self { kernel_release: release.trim().to_owned(), census }
    }

    fn sum(&self, read: impl Fn(&CacheCensus) -> u64) -> u64 {
        self.census.caches.iter().map(read).sum()
    }
}

impl Answer for CensusAnswer {
    const SCHEMA: &'static str = "slablab.census/1";

    fn document(&self) -> Document {
        let census = &self.census;
        let how = "Each place has the bytes of its free objects: slabs of CPUs, sheaves and barns, partial and empty slabs of \
                   nodes. Objects in sheaves are free for the allocator, although their slabs count them as in use.";
        Document {
            title: "Where the free objects of slab caches lie".to_owned(),
            question: "Where do the free objects of this kernel lie?".to_owned(),
            answers: vec![self.whole(), self.first_caches(), self.full(), self.cost()],
            sections: vec![
                Section::first("caches", "", vec![places(census)]).with_method(how),
                Section::named("places", "By place", vec![sums(census)]),
                Section::named("fullness", "How full slabs are", vec![fullness(census)]),
                Section::named("objects", "Free objects by place", vec![objects(census)]),
            ],
            source: format!(
                "From the running kernel, Linux {}, {}, by BPF.",
                self.kernel_release,
                counted(census.cpus, "CPU")
            ),
            notes: self.notes(),
            facts: vec![Fact::new("kernel", &self.kernel_release)],
            ..Document::default()
        }
    }
}

impl CensusAnswer {
    fn whole(&self) -> String {
        let held = self.sum(CacheCensus::held_bytes);
        let free = self.sum(free_bytes);
        let sums = by_place(&self.census);
        let said = sums.iter().filter(|(_, lying, _)| lying.objects > 0);
        let mut said: Vec<_> = said.map(|(name, _, bytes)| (*bytes, *name)).collect();
        said.sort_by(|a, b| b.cmp(a));
        let said: Vec<_> = said
            .iter()
            .take(NAMED_MAX)
            .map(|(n, name)| format!("{} in {name}", bytes(*n)))
            .collect();
        format!(
            "Of {} in slabs of {}, {} ({:.1} %) are free objects: {}.",
            bytes(held),
            counted(self.census.caches.len() as u64, "cache"),
            bytes(free),
            percent(free, held),
            said.join(", ")
        )
    }

    fn first_caches(&self) -> String {
        let named = self.census.caches.iter().take(NAMED_MAX).filter(|cache| cache.free() > 0);
        let said: Vec<_> = named
            .map(|cache| {
                let share = percent(cache.free(), cache.objects);
                format!("{} ({}, {share:.0} % of it)", cache.cache, bytes(free_bytes(cache)))
            })
            .collect();
        match said.is_empty() {
            true => "No cache has a free object.".to_owned(),
            false => format!("Most of it is in {}.", said.join(", ")),
        }
    }

    fn full(&self) -> String {
        let slabs = self.sum(|cache| cache.slabs);
        let full = self.sum(|cache| cache.fullness[FULLNESS - 1]);
        let sparse = self.sum(|cache| cache.fullness[1] + cache.fullness[2]);
        format!(
            "Of {} {:.0} % are full, {} are less than half full, and {} are empty.",
            counted(slabs, "slab"),
            percent(full, slabs),
            thousands(sparse),
            thousands(self.sum(|cache| cache.fullness[0]))
        )
    }

    fn cost(&self) -> String {
        let changed = self.sum(|cache| cache.changed);
        format!(
            "It took {} and {} without a lock; {} changed meanwhile.",
            duration(self.census.took_ns),
            counted(self.census.calls, "call"),
            counted(changed, "slab or list").replace("slab or lists", "slabs or lists")
        )
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.census.has_sheaves {
            notes.push("This kernel has no sheaves: Linux 6.18 brought them.".to_owned());
        }
        if !self.census.has_cpu_slabs {
            notes.push(
                "This kernel has no CPU slabs: sheaves replaced them in Linux 7.0.".to_owned(),
            );
        }
        notes
    }
}

fn bytes(n: u64) -> String {
    short(n as f64, "B")
}

fn percent(part: u64, whole: u64) -> f64 {
    part as f64 * 100.0 / whole.max(1) as f64
}

fn free_bytes(cache: &CacheCensus) -> u64 {
    cache.free() * cache.object_bytes
}

/// Adds up each kind of place: its name, what lies there, and the bytes.
fn by_place(census: &Census) -> Vec<(&'static str, Lying, u64)> {
    let mut sums: Vec<(&'static str, Lying, u64)> = Vec::new();
    for cache in &census.caches {
        for (at, (name, lying)) in cache.places().into_iter().enumerate() {
            if sums.len() == at {
                sums.push((name, Lying::default(), 0));
            }
            let (_, sum, bytes) = &mut sums[at];
            sum.places += lying.places;
            sum.objects += lying.objects;
            *bytes += lying.objects * cache.object_bytes;
        }
    }
    sums
}

/// Makes a cell of the bytes of free objects.
fn free_in(cache: &CacheCensus, objects: u64) -> Cell {
    Cell::Bytes(objects * cache.object_bytes)
}

fn places(census: &Census) -> Item {
    let of_cpus = |row: &CacheCensus| row.cpu_slabs.objects + row.cpu_partial.objects;
    let fields = vec![
        field::name("cache", "cache", |row: &CacheCensus| row.cache.as_str()),
        field::bytes("held", "held_bytes", CacheCensus::held_bytes),
        field::share("in use", "in_use_share", |row| {
            row.in_use() as f64 / row.objects.max(1) as f64
        }),
        field::by("of CPUs", "cpus_bytes", move |row| free_in(row, of_cpus(row))),
        field::by("in sheaves", "sheaves_bytes", |row| {
            free_in(row, row.in_sheaves() + row.barns.objects)
        }),
        field::cell("partial", "node_partial_bytes", |row| free_in(row, row.node_partial.objects)),
        field::cell("empty", "node_empty_bytes", |row| free_in(row, row.node_empty.objects)),
        field::by("CPU slabs", "cpu_slabs_bytes", |row: &CacheCensus| {
            free_in(row, row.cpu_slabs.objects)
        })
        .on_page(),
        field::by("CPU partial", "cpu_partial_bytes", |row: &CacheCensus| {
            free_in(row, row.cpu_partial.objects)
        })
        .on_page(),
        field::by("barns", "barns_bytes", |row: &CacheCensus| free_in(row, row.barns.objects))
            .on_page(),
    ];
    Item::table("", "", Table::of_fields(&census.caches, fields))
}

fn sums(census: &Census) -> Item {
    let fields = vec![
        field::text("place", "place", |row: &(&'static str, Lying, u64)| row.0.to_owned()),
        field::count("slabs or sheaves", "places", |row| row.1.places),
        field::count("free objects", "free_objects", |row| row.1.objects),
        field::bytes("free", "free_bytes", |row| row.2),
    ];
    Item::table("", "", Table::of_fields(&by_place(census), fields))
}

fn fullness(census: &Census) -> Item {
    let mut fields = vec![
        field::name("cache", "cache", |row: &CacheCensus| row.cache.as_str()),
        field::count("slabs", "slabs", |row| row.slabs),
    ];
    for (class, (head, key)) in CLASSES.into_iter().enumerate() {
        fields
            .push(field::by(head, key, move |row: &CacheCensus| Cell::Count(row.fullness[class])));
    }
    let how =
        "Slabs by the share of their objects that is in use; objects in sheaves count as in use.";
    Item::table("", how, Table::of_fields(&census.caches, fields))
}

fn objects(census: &Census) -> Item {
    let fields = [
        field::name("cache", "cache", |row: &CacheCensus| row.cache.as_str()),
        field::count("objects", "objects", |row| row.objects),
        field::count("in use", "in_use_objects", CacheCensus::in_use),
        field::count("CPU slabs", "cpu_slabs_objects", |row| row.cpu_slabs.objects),
        field::count("CPU partial", "cpu_partial_objects", |row| row.cpu_partial.objects),
        field::count("main", "main_sheaves_objects", |row| row.main_sheaves.objects),
        field::count("spare", "spare_sheaves_objects", |row| row.spare_sheaves.objects),
        field::count("rcu_free", "rcu_sheaves_objects", |row| row.rcu_sheaves.objects),
        field::count("barns", "barns_objects", |row| row.barns.objects),
        field::count("partial", "node_partial_objects", |row| row.node_partial.objects),
        field::count("empty", "node_empty_objects", |row| row.node_empty.objects),
        field::count("changed", "changed", |row: &CacheCensus| row.changed).on_page(),
    ];
    Item::table("", "", Table::of(&census.caches, fields))
}
