//! Snapshots of `/proc/slabinfo` and `/proc/allocinfo`, which need no tracing: what they hold, and what they advise.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use slablab_linux::is_kmalloc_name;
use slablab_report::{Cell, Document, Fact, Item, Section, Table, counted, field};
use slablab_trace::{SnapshotEntry, SnapshotKind, Snapshots};

use crate::output::{Answer, bytes};

/// Of what is held back for later allocations, less than this is not worth a row.
const IDLE_BYTES_MIN: u64 = 16 << 10;

/// Allocations of at most this many bytes each are small: a cache of their own can hold several in a slab.
const SMALL_BYTES_MAX: u64 = 8192;

/// What `slablab info` says of snapshots.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SnapshotAnswer {
    snapshot: String,
    of: &'static str,
    moments: usize,
    page_bytes: u64,
    live_bytes: u64,
    /// Of slabinfo
    slab_bytes: Option<u64>,
    entries: Vec<Entry>,
    folders: Vec<Folder>,
    /// Lines that could not be read, by number
    lines_unread: Vec<u64>,
}

/// A cache, or a line of the source.
#[derive(Debug, Serialize, JsonSchema)]
struct Entry {
    name: String,
    place: String,
    objects: u64,
    live_bytes: u64,
    /// Of the slabs
    slab_bytes: u64,
    /// In slabs that hold no object
    idle_bytes: u64,
    growth_bytes: i64,
    grows_on: bool,
}

/// A folder of the source.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct Folder {
    folder: String,
    objects: u64,
    live_bytes: u64,
    growth_bytes: i64,
}

impl Answer for SnapshotAnswer {
    const SCHEMA: &'static str = "slablab.snapshot/1";

    fn document(&self) -> Document {
        let mut answers = self.damage();
        answers.extend([self.memory(), self.greatest()]);
        answers.extend(self.growth());
        let folders = Item::table("Folders of the source", "", self.folders());
        let title = if self.is_slabinfo() { "Caches" } else { "Lines of the source" };
        let how = "Those that hold most memory stand first.";
        let all: Vec<_> = self.entries.iter().collect();
        let sections = vec![
            Section::first(self.noun(), "", vec![Item::table(title, how, self.table(&all))]),
            self.growing(),
            Section::named("folders", "", vec![folders]),
        ];
        self.answering(answers, sections)
    }
}

impl SnapshotAnswer {
    pub(crate) fn new(path: &Path, snapshots: &Snapshots) -> Self {
        let page_bytes = snapshots.page_bytes;
        let is_slabinfo = snapshots.kind == SnapshotKind::Slabinfo;
        let mut entries: Vec<_> =
            snapshots.entries.iter().map(|entry| Entry::new(entry, page_bytes)).collect();
        entries.sort_by_key(|entry| {
            Reverse((entry.slab_bytes.max(entry.live_bytes), Reverse(entry.name.clone())))
        });
        let slab_bytes = entries.iter().map(|entry| entry.slab_bytes).sum();
        Self {
            snapshot: path.display().to_string(),
            of: snapshots.kind.name(),
            moments: snapshots.moments,
            page_bytes,
            live_bytes: entries.iter().map(|entry| entry.live_bytes).sum(),
            slab_bytes: is_slabinfo.then_some(slab_bytes),
            folders: if is_slabinfo { Vec::new() } else { folders(&entries) },
            entries,
            lines_unread: snapshots.unread.clone(),
        }
    }

    fn is_slabinfo(&self) -> bool {
        self.slab_bytes.is_some()
    }

    /// Names what an entry is, as `--show` does.
    fn noun(&self) -> &'static str {
        if self.is_slabinfo() { "caches" } else { "lines" }
    }

    /// Returns the document with what both answers say of a snapshot.
    fn answering(&self, answers: Vec<String>, sections: Vec<Section>) -> Document {
        let base_name = self.snapshot.rsplit('/').next().unwrap_or(&self.snapshot);
        let moments = counted(self.moments as u64, "moment");
        Document {
            title: format!("{base_name}: /proc/{}", self.of),
            question: "Who holds the memory?".to_owned(),
            answers,
            sections,
            source: format!("From {}: /proc/{} at {moments}.", self.snapshot, self.of),
            facts: vec![
                Fact::new("snapshot", &self.snapshot),
                Fact::new("of", format!("/proc/{}", self.of)),
                Fact::new("moments", self.moments.to_string()),
                Fact::new("page", bytes(self.page_bytes)),
            ],
            ..Document::default()
        }
    }

    /// Says which lines could not be read.
    fn damage(&self) -> Vec<String> {
        let first = self.lines_unread.first();
        let said = first.map(|first| {
            let lines = counted(self.lines_unread.len() as u64, "line");
            format!("{lines} could not be read, the first is line {first}.")
        });
        said.into_iter().collect()
    }

    fn memory(&self) -> String {
        let (live, count) = (bytes(self.live_bytes), self.entries.len() as u64);
        match self.slab_bytes {
            Some(slab_bytes) => format!(
                "The slabs of {} take {}, their objects {live}.",
                counted(count, "cache"),
                bytes(slab_bytes)
            ),
            None => format!(
                "{} of the source hold {live}, the pages that they allocate among it.",
                counted(count, "line")
            ),
        }
    }

    fn greatest(&self) -> String {
        let held = |entry: &Entry| bytes(entry.slab_bytes.max(entry.live_bytes));
        let most = self.entries.iter().take(3);
        let most: Vec<_> = most.map(|entry| format!("{} {}", entry.name, held(entry))).collect();
        format!("These hold most: {}.", most.join(", "))
    }

    /// Says of a series what grew at every step.
    fn growth(&self) -> Option<String> {
        if self.moments < 2 {
            return None;
        }
        let growing = self.growers();
        let Some(first) = growing.first() else {
            return Some(format!("None of the {} grew at every step.", self.noun()));
        };
        Some(format!(
            "{} grew at every step, {} most, by {}: a possible leak, or a cache that is being filled.",
            growing.len(),
            first.name,
            bytes(first.growth_bytes.unsigned_abs())
        ))
    }

    /// Returns the entries that grew at each step, those that grew most first.
    fn growers(&self) -> Vec<&Entry> {
        let mut growing: Vec<_> = self.entries.iter().filter(|entry| entry.grows_on).collect();
        growing.sort_by_key(|entry| Reverse(entry.growth_bytes));
        growing
    }

    fn growing(&self) -> Section {
        let table = self.table(&self.growers());
        let how = "What grew from each moment to the next.";
        Section::first("growing", "", vec![Item::table("Growing at every step", how, table)])
    }

    fn table(&self, entries: &[&Entry]) -> Table {
        let mut fields = vec![];
        if self.is_slabinfo() {
            fields.extend([
                field::name("cache", "name", |entry: &&Entry| &entry.name),
                field::count("objects", "objects", |entry| entry.objects),
                field::bytes("live", "live_bytes", |entry| entry.live_bytes),
                field::bytes("slabs", "slab_bytes", |entry| entry.slab_bytes),
                field::cell("used", "used_share", |entry| {
                    Cell::share(entry.live_bytes, entry.slab_bytes)
                }),
            ]);
        } else {
            fields.extend([
                field::name("function", "name", |entry: &&Entry| &entry.name),
                field::name("line", "place", |entry| &entry.place),
                field::count("objects", "objects", |entry| entry.objects),
                field::bytes("live", "live_bytes", |entry| entry.live_bytes),
                field::cell("object", "bytes_each", |entry| match entry.objects {
                    0 => Cell::Missing,
                    objects => Cell::Bytes(entry.live_bytes / objects),
                }),
            ]);
        }
        if self.moments > 1 {
            fields.push(field::cell("growth", "growth_bytes", |entry| {
                Cell::SignedBytes(entry.growth_bytes)
            }));
        }
        Table::of_fields(entries, fields)
    }

    fn folders(&self) -> Table {
        let fields = [
            field::name("folder", "folder", |folder: &Folder| &folder.folder),
            field::count("objects", "objects", |folder| folder.objects),
            field::bytes("live", "live_bytes", |folder| folder.live_bytes),
        ];
        Table::of(&self.folders, fields)
    }
}

impl Entry {
    fn new(entry: &SnapshotEntry, page_bytes: u64) -> Self {
        let (last, slab_bytes) = (entry.last(), entry.slab_bytes(page_bytes));
        // At the best packing, this many slabs would do.
        let needed = last.objects.div_ceil(entry.objperslab.max(1));
        let idle_slabs = last.slabs.saturating_sub(needed);
        Self {
            name: entry.name.clone(),
            place: entry.place.clone(),
            objects: last.objects,
            live_bytes: last.bytes,
            slab_bytes,
            idle_bytes: idle_slabs * entry.pagesperslab * page_bytes,
            growth_bytes: entry.growth_bytes(),
            grows_on: entry.grows_on(),
        }
    }
}

/// Adds lines of the source up by the folder that they are in.
fn folders(entries: &[Entry]) -> Vec<Folder> {
    let mut folders = BTreeMap::<&str, Folder>::new();
    for entry in entries {
        let path = entry.place.trim_start_matches("./");
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let sum = folders
            .entry(folder)
            .or_insert_with(|| Folder { folder: folder.into(), ..Folder::default() });
        sum.objects += entry.objects;
        sum.live_bytes += entry.live_bytes;
        sum.growth_bytes += entry.growth_bytes;
    }
    let mut folders: Vec<_> =
        folders.into_values().filter(|folder| folder.live_bytes > 0).collect();
    folders.sort_by_key(|folder| Reverse(folder.live_bytes));
    folders
}

/// What `slablab advise` says of snapshots.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct SnapshotAdvice(pub(crate) SnapshotAnswer);

impl Answer for SnapshotAdvice {
    const SCHEMA: &'static str = "slablab.snapshot-advice/1";

    fn document(&self) -> Document {
        let Self(snapshot) = self;
        let is_slabinfo = snapshot.is_slabinfo();
        let mut answers = snapshot.damage();
        answers.extend(if is_slabinfo { self.beyond_need() } else { self.small_sum() });
        answers.extend(snapshot.growth());
        let all: Vec<_> = snapshot.entries.iter().collect();
        let mut sections = if is_slabinfo { self.sections_of_slabinfo() } else { self.lines() };
        sections.push(snapshot.growing());
        let whole = Item::table("All of them", "", snapshot.table(&all));
        sections.push(Section::named(snapshot.noun(), "", vec![whole]));
        Document { notes: vec![untold(is_slabinfo)], ..snapshot.answering(answers, sections) }
    }
}

impl SnapshotAdvice {
    /// Returns the caches with slabs that could be given back, most memory first.
    fn idle(&self) -> Vec<&Entry> {
        let mut idle: Vec<_> =
            self.0.entries.iter().filter(|entry| entry.idle_bytes >= IDLE_BYTES_MIN).collect();
        idle.sort_by_key(|entry| Reverse(entry.idle_bytes));
        idle
    }

    /// Says how much the objects do not need, and what gives it back.
    fn beyond_need(&self) -> Vec<String> {
        let idle = self.idle();
        let Some(most) = idle.first() else {
            return vec!["No cache holds much more than its objects need.".to_owned()];
        };
        vec![
            format!(
                "{} hold {} more than their objects need, {} most.",
                counted(idle.len() as u64, "cache"),
                bytes(idle.iter().map(|entry| entry.idle_bytes).sum()),
                most.name
            ),
            "As root, `echo 1 > /sys/kernel/slab/NAME/shrink` gives empty slabs back. A few objects keep each of the \
             others; time may free them, and another allocator may need fewer (slablab replay)."
                .to_owned(),
        ]
    }

    fn sections_of_slabinfo(&self) -> Vec<Section> {
        let fields = [
            field::name("cache", "name", |entry: &&Entry| &entry.name),
            field::bytes("beyond need", "idle_bytes", |entry| entry.idle_bytes),
            field::bytes("slabs", "slab_bytes", |entry| entry.slab_bytes),
            field::cell("used", "used_share", |entry| {
                Cell::share(entry.live_bytes, entry.slab_bytes)
            }),
        ];
        let how = "Beyond need: what the slabs hold that fewer, full slabs would not.";
        let idle = Item::table("Held beyond need", how, Table::of(&self.idle(), fields));
        let is_kmalloc = |entry: &&Entry| is_kmalloc_name(&entry.name);
        let kmalloc: Vec<_> = self.0.entries.iter().filter(is_kmalloc).collect();
        let kmalloc = Item::table(
            "kmalloc's caches",
            "slabinfo does not tell who allocates from them.",
            self.0.table(&kmalloc),
        );
        vec![Section::first("idle", "", vec![idle]), Section::named("kmalloc", "", vec![kmalloc])]
    }

    /// Returns the lines of the source with small allocations.
    fn small(&self) -> Vec<&Entry> {
        let is_small = |e: &&Entry| e.objects > 0 && e.live_bytes / e.objects <= SMALL_BYTES_MAX;
        self.0.entries.iter().filter(is_small).collect()
    }

    /// Says how much is held in allocations that a cache could hold.
    fn small_sum(&self) -> Vec<String> {
        let small = self.small();
        let sum = small.iter().map(|entry| entry.live_bytes).sum();
        vec![format!(
            "{} of the source hold {} in allocations of at most {}: look at the first ones.",
            counted(small.len() as u64, "line"),
            bytes(sum),
            bytes(SMALL_BYTES_MAX)
        )]
    }

    fn lines(&self) -> Vec<Section> {
        let how = "Lines of the source with small allocations, those that hold most first.";
        let small = Item::table("Small allocations", how, self.0.table(&self.small()));
        vec![Section::first("small", "", vec![small])]
    }
}

/// Says what a snapshot does not tell, and what does.
fn untold(is_slabinfo: bool) -> String {
    let untold = if is_slabinfo {
        "which call sites allocate, how many bytes they ask for and how long objects live"
    } else {
        "how many bytes are asked for and how often objects come and go"
    };
    format!(
        "A snapshot does not tell {untold}; for that type: slablab record --duration 10 && slablab advise \
         slablab.parquet"
    )
}
