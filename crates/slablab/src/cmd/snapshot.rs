//! What `info` and `advise` say of snapshots: of `/proc/slabinfo` and `/proc/allocinfo`, which need no tracing.

use std::cmp::Reverse;
use std::path::Path;

use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use slablab_linux::is_kmalloc_name;
use slablab_trace::{SnapshotEntry, SnapshotKind, Snapshots};

use crate::cli::OutputArgs;
use crate::output::{Cell, Page, Report, Table, bytes, field, print, thousands};

/// Of what is held back for later allocations, less than this is not worth a line.
const IDLE_BYTES_MIN: u64 = 16 << 10;

/// Prints what the snapshots hold, `lines` rows of it.
pub(crate) fn info(
    path: &Path,
    snapshots: &Snapshots,
    lines: usize,
    output: &OutputArgs,
    file: Option<&Path>,
) -> Result<()> {
    print(&Snapshot::new(path, snapshots, lines), output, file)
}

/// Prints what they advise, and what nobody can say without a trace.
pub(crate) fn advise(
    path: &Path,
    snapshots: &Snapshots,
    lines: usize,
    output: &OutputArgs,
    file: Option<&Path>,
) -> Result<()> {
    print(&Advice(Snapshot::new(path, snapshots, lines)), output, file)
}

/// Snapshots as they are printed.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Snapshot {
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
    #[serde(skip)]
    lines: usize,
}

/// A cache, or a line of the source.
#[derive(Debug, Clone, Serialize, JsonSchema)]
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
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
struct Folder {
    folder: String,
    objects: u64,
    live_bytes: u64,
    growth_bytes: i64,
}

impl Snapshot {
    fn new(path: &Path, snapshots: &Snapshots, lines: usize) -> Self {
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
            lines,
        }
    }

    fn is_slabinfo(&self) -> bool {
        self.slab_bytes.is_some()
    }

    fn is_series(&self) -> bool {
        self.moments > 1
    }

    fn heading(&self, page: &mut Page) {
        page.line(format!("{:<10}{}", "snapshot", self.snapshot));
        let moments = if self.is_series() {
            format!("/proc/{}, {} moments", self.of, self.moments)
        } else {
            format!("/proc/{}", self.of)
        };
        page.line(format!("{:<10}{moments}", "of"));
        let live = bytes(self.live_bytes);
        let held = match self.slab_bytes {
            Some(slab_bytes) => format!("{live} in objects, {} in slabs", bytes(slab_bytes)),
            None => format!("{live} in allocations, those of whole pages among them"),
        };
        page.line(format!("{:<10}{held}", "memory"));
        if let [first, rest @ ..] = &self.lines_unread[..] {
            let count = rest.len() + 1;
            page.line(format!(
                "{:<10}{count} line(s) could not be read, line {first} first",
                "damaged"
            ));
        }
    }

    fn table(&self, entries: &[Entry]) -> Table {
        let head = if self.is_slabinfo() { "cache" } else { "function" };
        let mut fields = vec![field::name(head, "name", |entry: &Entry| &entry.name)];
        if !self.is_slabinfo() {
            fields.push(field::name("place", "place", |entry| &entry.place));
        }
        fields.push(field::count("objects", "objects", |entry| entry.objects));
        fields.push(field::bytes("live", "live_bytes", |entry| entry.live_bytes));
        if self.is_slabinfo() {
            fields.push(field::bytes("in slabs", "slab_bytes", |entry| entry.slab_bytes));
            fields.push(field::cell("used", "used_share", |entry| {
                Cell::share(entry.live_bytes, entry.slab_bytes)
            }));
        } else {
            fields.push(field::cell("each", "bytes_each", |entry| match entry.objects {
                0 => Cell::Missing,
                objects => Cell::Bytes(entry.live_bytes / objects),
            }));
        }
        if self.is_series() {
            fields.push(field::cell("growth", "growth_bytes", |entry| {
                Cell::SignedBytes(entry.growth_bytes)
            }));
        }
        Table::of_fields(entries, fields)
    }

    /// Returns the entries that grew at each step, the fastest first.
    fn growing(&self) -> Vec<Entry> {
        let mut growing: Vec<_> =
            self.entries.iter().filter(|entry| entry.grows_on).cloned().collect();
        growing.sort_by_key(|entry| Reverse(entry.growth_bytes));
        growing
    }

    fn growth(&self, page: &mut Page) {
        if !self.is_series() {
            return;
        }
        page.heading(
            "Growing at every step: a possible leak, or a cache that is still being filled",
        );
        let growing = self.growing();
        page.table_or(&self.table(&growing[..growing.len().min(self.lines)]), "none");
    }

    fn rest(&self, page: &mut Page, shown: usize, all: usize) {
        if all > shown {
            page.line(format!("... and {} more (-n shows more)", thousands((all - shown) as u64)));
        }
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
    let mut folders = std::collections::BTreeMap::<&str, Folder>::new();
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

impl Report for Snapshot {
    const SCHEMA: &'static str = "slablab.snapshot/1";

    fn text(&self, page: &mut Page) {
        self.heading(page);
        page.heading(if self.is_slabinfo() {
            "Caches by the memory of their slabs"
        } else {
            "Lines of the source by live bytes"
        });
        let shown = self.lines.min(self.entries.len());
        page.table(&self.table(&self.entries[..shown]));
        self.rest(page, shown, self.entries.len());
        if !self.folders.is_empty() {
            page.heading("Folders of the source");
            let fields = [
                field::name("folder", "folder", |folder: &Folder| &folder.folder),
                field::count("objects", "objects", |folder| folder.objects),
                field::bytes("live", "live_bytes", |folder| folder.live_bytes),
            ];
            page.table(&Table::of(&self.folders[..self.folders.len().min(self.lines)], fields));
        }
        self.growth(page);
    }

    fn csv(&self) -> Table {
        self.table(&self.entries)
    }
}

/// What can be advised by snapshots.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Advice(Snapshot);

impl Advice {
    /// Returns the caches with slabs that could be given back, most memory first.
    fn idle(&self) -> Vec<Entry> {
        let idle = |entry: &&Entry| entry.idle_bytes >= IDLE_BYTES_MIN;
        let mut idle: Vec<_> = self.0.entries.iter().filter(idle).cloned().collect();
        idle.sort_by_key(|entry| Reverse(entry.idle_bytes));
        idle
    }
}

impl Report for Advice {
    const SCHEMA: &'static str = "slablab.snapshot-advice/1";

    fn text(&self, page: &mut Page) {
        let Self(snapshot) = self;
        snapshot.heading(page);
        if snapshot.is_slabinfo() {
            let idle = self.idle();
            let sum = idle.iter().map(|entry| entry.idle_bytes).sum();
            page.heading(&format!("Held beyond what the objects need: {} in all", bytes(sum)));
            page.line(
                "As root, `echo 1 > /sys/kernel/slab/NAME/shrink` gives empty slabs back. Of the",
            );
            page.line(
                "rest each slab is kept by a few objects, which only time changes, or another",
            );
            page.line("allocator (slablab replay).");
            let fields = [
                field::name("cache", "name", |entry: &Entry| &entry.name),
                field::bytes("beyond need", "idle_bytes", |entry| entry.idle_bytes),
                field::bytes("in slabs", "slab_bytes", |entry| entry.slab_bytes),
                field::cell("used", "used_share", |entry| {
                    Cell::share(entry.live_bytes, entry.slab_bytes)
                }),
            ];
            let shown = idle.len().min(snapshot.lines);
            page.table_or(&Table::of(&idle[..shown], fields), "nothing worth a line");
            snapshot.rest(page, shown, idle.len());
            let kmalloc: Vec<_> = snapshot
                .entries
                .iter()
                .filter(|entry| is_kmalloc_name(&entry.name))
                .cloned()
                .collect();
            page.heading("kmalloc's caches, whose callers slabinfo does not tell");
            page.table(&snapshot.table(&kmalloc[..kmalloc.len().min(snapshot.lines)]));
        } else {
            page.heading("Lines of the source worth a look: the most memory in small allocations");
            let small =
                |entry: &&Entry| entry.objects > 0 && entry.live_bytes / entry.objects <= 8192;
            let small: Vec<_> = snapshot.entries.iter().filter(small).cloned().collect();
            page.table(&snapshot.table(&small[..small.len().min(snapshot.lines)]));
        }
        snapshot.growth(page);
        page.heading("What a snapshot does not tell");
        let untold = if snapshot.is_slabinfo() {
            "Which call sites allocate, how many bytes they ask for, how long objects live,"
        } else {
            "How many bytes are asked for (those are given), how often objects come and go,"
        };
        page.line(untold);
        page.line("and so what a cache of their own or another allocator would save. For that:");
        page.line("slablab record --duration 10 && slablab advise slablab.parquet");
    }

    fn csv(&self) -> Table {
        self.0.table(&self.0.entries)
    }
}
