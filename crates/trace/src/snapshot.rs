//! Snapshots of a kernel's memory: the text of `/proc/slabinfo` or of `/proc/allocinfo`, once or again and again.
//!
//! How it works: a text begins with a heading, and each further heading begins the next moment of a series, as
//! `while sleep 60; do cat /proc/slabinfo; done` writes it. A moment is a list of lines by name: a cache of slabinfo, a
//! line of the source in allocinfo (`CONFIG_MEM_ALLOC_PROFILING`, Linux 6.10 on).
//!
//! Linux counterpart: `mm/slab_common.c` (slabinfo 2.1), `lib/alloc_tag.c` (allocinfo 1.0 and 2.0).

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use slablab_linux::SlabInfo;

use crate::error::At;
use crate::{Error, Input};

/// What a snapshot is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotKind {
    /// `/proc/slabinfo`: by cache
    Slabinfo,
    /// `/proc/allocinfo`: by line of the source
    Allocinfo,
}

impl SnapshotKind {
    const ALL: [SnapshotKind; 2] = [SnapshotKind::Slabinfo, SnapshotKind::Allocinfo];

    /// Returns the name of the file in `/proc`.
    pub const fn name(self) -> &'static str {
        match self {
            SnapshotKind::Slabinfo => "slabinfo",
            SnapshotKind::Allocinfo => "allocinfo",
        }
    }

    /// Tells of what `line` is the heading.
    fn of_heading(line: &str) -> Option<SnapshotKind> {
        let is = |kind: &SnapshotKind| {
            line.strip_prefix(kind.name()).is_some_and(|rest| rest.starts_with(" - version: "))
        };
        SnapshotKind::ALL.into_iter().find(is)
    }
}

/// A series of moments, all of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshots {
    /// What is in each.
    pub kind: SnapshotKind,
    /// How many moments there are.
    pub moments: usize,
    /// Bytes in a page, as far as the caches tell: no cache's objects fit smaller ones.
    pub page_bytes: u64,
    /// The caches or lines of the source, in the order of their first appearance.
    pub entries: Vec<SnapshotEntry>,
    /// The lines that could not be read, by number: damaged, or cut.
    pub unread: Vec<u64>,
}

/// A cache, or a line of the source, through all moments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SnapshotEntry {
    /// The cache's name, or the function's.
    pub name: String,
    /// `mm/slub.c:123`, with the module in brackets behind; "" for a cache.
    pub place: String,
    /// What it was at each moment; zeros where it was not there.
    pub levels: Vec<Level>,
    /// Bytes of an object, objects and pages of a slab; zeros for a line of the source.
    pub objsize: u64,
    /// See `objsize`.
    pub objperslab: u64,
    /// See `objsize`.
    pub pagesperslab: u64,
}

/// What is alive at a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Level {
    /// Objects, or allocations, that are alive.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Slabs; 0 for a line of the source.
    pub slabs: u64,
}

impl SnapshotEntry {
    /// Returns how it was last.
    pub fn last(&self) -> Level {
        self.levels.last().copied().unwrap_or_default()
    }

    /// Returns how it was first.
    pub fn first(&self) -> Level {
        self.levels.first().copied().unwrap_or_default()
    }

    /// Returns the bytes of its slabs at the end.
    pub fn slab_bytes(&self, page_bytes: u64) -> u64 {
        self.last().slabs * self.pagesperslab * page_bytes
    }

    /// Returns by how many bytes it has grown since the first moment.
    pub fn growth_bytes(&self) -> i64 {
        self.last().bytes as i64 - self.first().bytes as i64
    }

    /// Tells whether it grew at every step, of which there have to be at least three: what does not end is a leak, or
    /// a cache that is still being filled.
    pub fn grows_on(&self) -> bool {
        self.levels.len() > GROWTH_STEPS_MIN
            && self.levels.windows(2).all(|step| step[1].bytes > step[0].bytes)
    }
}

/// Steps that have to go up before growth is pointed out.
const GROWTH_STEPS_MIN: usize = 3;

/// Sizes of pages that Linux has.
const PAGE_BYTES: [u64; 3] = [4 << 10, 16 << 10, 64 << 10];

/// A line of a snapshot is no longer.
const LINE_BYTES_MAX: u64 = 64 << 10;

impl Input {
    /// Returns what it is a snapshot of, `None` when it is a recording or anything else.
    pub fn snapshot(&self) -> Option<SnapshotKind> {
        let end = self.head().iter().position(|&byte| byte == b'\n').unwrap_or(self.head().len());
        SnapshotKind::of_heading(std::str::from_utf8(&self.head()[..end]).ok()?)
    }
}

impl Snapshots {
    /// Reads all moments.
    ///
    /// # Errors
    /// When it cannot be read, is no snapshot, or changes its kind on the way.
    pub fn read(input: Input) -> Result<Snapshots, Error> {
        let path = input.path().to_owned();
        let Some(kind) = input.snapshot() else {
            return Err(bad(&path, 1, "is no text of /proc/slabinfo or /proc/allocinfo".into()));
        };
        Self::of_lines(path, kind, BufReader::new(input.into_reader()))
    }

    /// Reads all moments of such lines, which begin with the heading.
    pub(crate) fn of_lines(
        path: PathBuf,
        kind: SnapshotKind,
        mut lines: impl BufRead,
    ) -> Result<Snapshots, Error> {
        let mut reading = Reading::new(path, kind);
        let mut bytes = Vec::new();
        for number in 1.. {
            bytes.clear();
            let read =
                std::io::Read::take(&mut lines, LINE_BYTES_MAX).read_until(b'\n', &mut bytes);
            if read.map_err(|e| Error::io(&reading.path, "cannot read", e))? == 0 {
                break;
            }
            reading.line(String::from_utf8_lossy(&bytes).trim_end(), number)?;
        }
        if reading.snapshots.entries.is_empty() {
            return Err(bad(
                &reading.path,
                1,
                "has a heading and no line below it that can be read".into(),
            ));
        }
        Ok(reading.finish())
    }
}

/// The lines so far.
struct Reading {
    path: PathBuf,
    snapshots: Snapshots,
    places: FxHashMap<(String, String), usize>,
}

impl Reading {
    fn new(path: PathBuf, kind: SnapshotKind) -> Reading {
        let snapshots = Snapshots {
            kind,
            moments: 0,
            page_bytes: PAGE_BYTES[0],
            entries: Vec::new(),
            unread: Vec::new(),
        };
        Reading { path, snapshots, places: FxHashMap::default() }
    }

    /// Takes a line, or counts one that cannot be read.
    fn line(&mut self, line: &str, number: u64) -> Result<(), Error> {
        if let Some(kind) = SnapshotKind::of_heading(line) {
            if kind != self.snapshots.kind {
                let what = format!("{} follows {}", kind.name(), self.snapshots.kind.name());
                return Err(bad(&self.path, number, what));
            }
            self.snapshots.moments += 1;
            return Ok(());
        }
        match self.snapshots.kind {
            _ if line.is_empty() || line.starts_with('#') => return Ok(()),
            SnapshotKind::Slabinfo => self.slabinfo(line),
            SnapshotKind::Allocinfo => self.allocinfo(line),
        }
        .unwrap_or_else(|| {
            self.snapshots.unread.push(number);
        });
        Ok(())
    }

    fn slabinfo(&mut self, line: &str) -> Option<()> {
        let info = SlabInfo::parse(line)?;
        // Only a damaged line has more in use than there is room for.
        let objects = info.active_objs.min(info.num_objs);
        let level =
            Level { objects, bytes: objects.saturating_mul(info.objsize), slabs: info.num_slabs };
        let pages = &mut self.snapshots.page_bytes;
        let fits = |page: &&u64| {
            info.objsize.saturating_mul(info.objperslab) <= info.pagesperslab.saturating_mul(**page)
        };
        *pages = PAGE_BYTES.iter().find(fits).copied().unwrap_or(PAGE_BYTES[0]).max(*pages);
        let entry = self.level(info.name, "", level);
        (entry.objsize, entry.objperslab, entry.pagesperslab) =
            (info.objsize, info.objperslab, info.pagesperslab);
        Some(())
    }

    /// Reads `BYTES CALLS FILE:LINE [MODULE] func:NAME`.
    fn allocinfo(&mut self, line: &str) -> Option<()> {
        let mut words = line.split_ascii_whitespace();
        let mut number = || words.next()?.parse().ok();
        let (bytes, objects) = number().zip(number())?;
        let mut place = words.next().unwrap_or_default().to_owned();
        let mut name = "";
        for word in words {
            match word.strip_prefix("func:") {
                Some(function) => name = function,
                None if word.starts_with('[') => place = format!("{place} {word}"),
                None => {}
            }
        }
        if name.is_empty() {
            return None;
        }
        self.level(name, &place, Level { objects, bytes, slabs: 0 });
        Some(())
    }

    /// Adds to what an entry is at this moment: a line of the source may have several.
    fn level(&mut self, name: &str, place: &str, level: Level) -> &mut SnapshotEntry {
        let key = (name.to_owned(), place.to_owned());
        let entries = &mut self.snapshots.entries;
        let index = *self.places.entry(key).or_insert_with(|| {
            entries.push(SnapshotEntry {
                name: name.into(),
                place: place.into(),
                ..SnapshotEntry::default()
            });
            entries.len() - 1
        });
        let entry = &mut entries[index];
        entry.levels.resize(self.snapshots.moments, Level::default());
        if let Some(now) = entry.levels.last_mut() {
            now.objects = now.objects.saturating_add(level.objects);
            now.bytes = now.bytes.saturating_add(level.bytes);
            now.slabs = now.slabs.saturating_add(level.slabs);
        }
        entry
    }

    fn finish(mut self) -> Snapshots {
        let moments = self.snapshots.moments;
        for entry in &mut self.snapshots.entries {
            entry.levels.resize(moments, Level::default());
        }
        self.snapshots
    }
}

fn bad(path: &Path, line: u64, what: String) -> Error {
    Error::bad(
        path,
        At::Line(line),
        what,
        "save one of them with `cat`, as root, and name that file",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Snapshots, String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("s"), text).unwrap();
        let input = Input::open(folder.path().join("s")).unwrap();
        Snapshots::read(input).map_err(|error| error.to_string())
    }

    fn slabinfo(active: u64) -> String {
        format!(
            "slabinfo - version: 2.1\n# name <active_objs>\n\
             filp {active} 42 192 21 1 : tunables 0 0 0 : slabdata 2 2 0\nbroken\n"
        )
    }

    #[test]
    fn caches_are_followed_through_a_series() {
        let series: String = [10, 20, 30, 31].map(slabinfo).concat();
        let snapshots = read(&series).unwrap();
        assert_eq!((snapshots.kind, snapshots.moments), (SnapshotKind::Slabinfo, 4));
        let filp = &snapshots.entries[0];
        assert_eq!(
            (filp.last().objects, filp.growth_bytes(), filp.grows_on()),
            (31, 21 * 192, true)
        );
        assert_eq!((filp.slab_bytes(4096), snapshots.page_bytes), (8192, 4096));
        let level = [10, 20, 15, 31].map(slabinfo).concat();
        assert!(!read(&level).unwrap().entries[0].grows_on());
        assert!(!read(&[1, 2].map(slabinfo).concat()).unwrap().entries[0].grows_on());
    }

    #[test]
    fn allocinfo_has_places_functions_and_modules() {
        let text = "allocinfo - version: 2.0\n#     <size>  <calls> <tag info>\n\
            4096 1 mm/slub.c:10 func:new_slab\n\
            100 5 drivers/net/x.c:7 [x] func:x_open accurate:no\n\
            28 1 drivers/net/x.c:7 [x] func:x_open\nbroken\n";
        let snapshots = read(text).unwrap();
        assert_eq!(snapshots.entries.len(), 2);
        let open = &snapshots.entries[1];
        assert_eq!((open.name.as_str(), open.place.as_str()), ("x_open", "drivers/net/x.c:7 [x]"));
        assert_eq!((open.last().bytes, open.last().objects), (128, 6));
    }

    #[test]
    fn what_is_no_series_of_one_kind_is_refused() {
        let mixed = slabinfo(1) + "allocinfo - version: 1.0\n";
        assert!(read(&mixed).unwrap_err().contains(":5: allocinfo follows slabinfo"));
        assert!(read("hello\n").unwrap_err().contains("no text of /proc/slabinfo"));
    }

    #[test]
    fn damaged_lines_are_counted() {
        let text = slabinfo(1) + "dentry 1 x 3 4\nkmalloc-6\n";
        assert_eq!(read(&text).unwrap().unread, [4, 5, 6]);
        assert!(read(&slabinfo(1).replace("broken\n", "")).unwrap().unread.is_empty());
    }

    #[test]
    fn more_objects_in_use_than_room_are_as_many_as_there_is_room_for() {
        assert_eq!(read(&slabinfo(50)).unwrap().entries[0].last().objects, 42);
    }

    #[test]
    fn larger_pages_are_told_by_the_objects_that_fit() {
        let text = "slabinfo - version: 2.1\n# name\n\
            big 1 16 4096 16 1 : tunables 0 0 0 : slabdata 1 1 0\n";
        assert_eq!(read(text).unwrap().page_bytes, 64 << 10);
    }
}
