//! Names the caches of allocations whose events do not (kernels before 6.8), in two passes.
//!
//! # How it works
//! The free of an object names its cache, and may come much later or never. So from the first
//! nameless allocation on rows go to a nameless file. A second file has a number for each nameless allocation, in
//! their order: its cache, written when the free comes. At the end the rows are read again and get their caches. An
//! allocation without a free gets the cache from which most allocations of the same site and size came. Otherwise
//! it gets one with its sizes in the kernel's sysfs: the one with most objects in use that no event has mentioned.
//! Else it gets the only cache of that object size in the kernel's slabinfo, else a class of kmalloc's.
//!
//! # Invariants
//! Memory holds a block of rows and the caches of the last [`RECENT`] nameless allocations, however
//! long the recording is.

use std::cmp::Reverse;
use std::fs::File;
use std::io::{BufReader, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use slablab_linux::is_kmalloc_name;

use crate::meta::SlabSnapshot;
use crate::spool::{Block, Spool};
use crate::{Error, Event, Kind, NONE, RawEvent, RecordedCache, TraceWriter};

/// Rows in a block of the first file.
const BLOCK_ROWS: usize = 16 << 10;

/// Caches of this many allocations are moved to the second file at once; most frees come soon.
const RECENT: usize = 1 << 20;

/// Returns whether an event should name a cache and does not.
pub(super) fn is_unnamed(event: &Event) -> bool {
    event.kind == Kind::KmemCacheAlloc && event.cache == NONE
}

/// A nameless allocation, for its free to name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unnamed {
    /// How many came before.
    number: u64,
    /// Index into [`Rows::votes`].
    origin: u32,
}

impl Unnamed {
    /// Stands for an allocation that has its cache.
    pub(super) const NAMED: Unnamed = Unnamed { number: u64::MAX, origin: NONE };
}

/// Allocations alike in this are taken to be from the same cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Origin {
    site: u32,
    bytes_req: u64,
    bytes_alloc: u64,
}

fn origin(event: &Event) -> Origin {
    Origin { site: event.site, bytes_req: event.bytes_req, bytes_alloc: event.bytes_alloc }
}

/// Rows; some of them wait for the name of a cache.
#[derive(Debug)]
pub(super) struct Rows {
    path: PathBuf,
    spool: Spool,
    blocks: Vec<Block>,
    /// What is not in a block yet. The slot stands in the place of the address.
    pending: Vec<RawEvent>,
    caches: Caches,
    origins: FxHashMap<Origin, u32>,
    /// How many allocations of an origin turned out to be from which cache, and how many there are.
    votes: Vec<FxHashMap<u32, u64>>,
    allocs: Vec<u64>,
    /// Allocations whose cache was inferred.
    pub(super) inferred: u64,
    /// Allocations whose cache could not be.
    pub(super) unknown: u64,
}

impl Rows {
    /// `path` is what errors name.
    pub(super) fn create(path: &Path) -> Result<Rows, Error> {
        Ok(Rows {
            path: path.into(),
            spool: Spool::create(&std::env::temp_dir())?,
            blocks: Vec::new(),
            pending: Vec::new(),
            caches: Caches::create(path)?,
            origins: FxHashMap::default(),
            votes: Vec::new(),
            allocs: Vec::new(),
            inferred: 0,
            unknown: 0,
        })
    }

    /// Returns what the next row, a nameless allocation, is to be known by.
    pub(super) fn next_unnamed(&mut self, event: &Event) -> Unnamed {
        let votes = &mut self.votes;
        let origin = *self.origins.entry(origin(event)).or_insert_with(|| {
            votes.push(FxHashMap::default());
            votes.len() as u32 - 1
        });
        self.allocs.resize(self.votes.len(), 0);
        self.allocs[origin as usize] += 1;
        Unnamed { number: self.caches.len(), origin }
    }

    /// Names the cache of an allocation.
    pub(super) fn name(&mut self, unnamed: Unnamed, cache: u32) -> Result<(), Error> {
        *self.votes[unnamed.origin as usize].entry(cache).or_default() += 1;
        self.inferred += 1;
        self.caches.set(unnamed.number, cache, &self.path)
    }

    /// Appends a row.
    pub(super) fn push(&mut self, event: &Event) -> Result<(), Error> {
        if is_unnamed(event) {
            self.caches.push(&self.path)?;
        }
        self.pending.push(event.to_raw(u64::from(event.object)));
        if self.pending.len() == BLOCK_ROWS { self.write_pending() } else { Ok(()) }
    }

    fn write_pending(&mut self) -> Result<(), Error> {
        self.blocks.push(self.spool.write(&self.pending, &self.path)?);
        self.pending.clear();
        Ok(())
    }

    /// Passes all rows on to `writer`, with their caches as well as these can be known.
    pub(super) fn finish(
        &mut self,
        slabs: &[&SlabSnapshot],
        writer: &mut TraceWriter,
    ) -> Result<(), Error> {
        self.write_pending()?;
        let mut of_size = Sizes::of(slabs, writer.caches_mut(), &self.voted());
        let mut caches = self.caches.read(&self.path)?;
        let mut rows = Vec::new();
        for block in std::mem::take(&mut self.blocks) {
            self.spool.read(block, &mut rows, &self.path)?;
            for row in &rows {
                let mut event = row.to_row(row.ptr as u32);
                if is_unnamed(&event) {
                    event.cache = caches.next(&self.path)?;
                    if event.cache == NONE {
                        event.cache = self.infer(&event, &mut of_size, writer);
                    }
                }
                writer.push(&event)?;
            }
        }
        Ok(())
    }

    /// Returns how many allocations without a free get a cache by the votes of their origin.
    fn voted(&self) -> FxHashMap<u32, u64> {
        let mut voted = FxHashMap::default();
        for (votes, allocs) in self.votes.iter().zip(&self.allocs) {
            if let Some(cache) = elected(votes) {
                *voted.entry(cache).or_default() += allocs.saturating_sub(votes.values().sum());
            }
        }
        voted
    }

    /// Returns the cache that an allocation without a free is likely from, or [`NONE`].
    fn infer(&mut self, event: &Event, of_size: &mut Sizes<'_>, writer: &mut TraceWriter) -> u32 {
        let votes = self.origins.get(&origin(event)).map(|&origin| &self.votes[origin as usize]);
        let most = votes.and_then(elected);
        let Some(cache) = most.or_else(|| Some(writer.cache(of_size.cache(event)?))) else {
            self.unknown += 1;
            return NONE;
        };
        self.inferred += 1;
        let entry = &mut writer.caches_mut()[cache as usize];
        entry.allocs += 1;
        entry.inferred += 1;
        cache
    }
}

/// Returns the cache that most allocations of an origin turned out to be from.
fn elected(votes: &FxHashMap<u32, u64>) -> Option<u32> {
    // The least id among equals, as the map's order means nothing.
    let most = votes.iter().max_by_key(|&(&cache, &votes)| (votes, Reverse(cache)));
    most.map(|(&cache, _)| cache)
}

/// The caches that an allocation without a free may be from, by its sizes. kmalloc's own come last: `kmem_cache_alloc` takes
/// from them only where another cache was merged with one, which then has no line of its own.
#[derive(Debug, Default)]
struct Sizes<'a> {
    /// By the size asked for and the size given, as sysfs has them.
    exact: FxHashMap<(u64, u64), Vec<Candidate<'a>>>,
    /// Those of kmalloc's caches, by the same sizes
    exact_kmalloc: FxHashMap<(u64, u64), Vec<Candidate<'a>>>,
    /// By the size given, as slabinfo has it; `None` where several caches have it.
    given: FxHashMap<u64, Option<&'a str>>,
    /// Bytes of an object, as sysfs has them
    object_bytes: FxHashMap<&'a str, u64>,
}

/// A cache, and how many of its objects the kernel has in use that no event has mentioned yet.
#[derive(Debug)]
struct Candidate<'a> {
    name: &'a str,
    untold: u64,
}

impl<'a> Sizes<'a> {
    /// `voted` are allocations without a free whose cache is known.
    fn of(
        slabs: &[&'a SlabSnapshot],
        caches: &[RecordedCache],
        voted: &FxHashMap<u32, u64>,
    ) -> Sizes<'a> {
        let mut sizes = Sizes::default();
        let mut in_use = FxHashMap::default();
        let text = slabs.iter().find(|slabs| !slabs.slabinfo.is_empty());
        for cache in text.into_iter().flat_map(|slabs| slabs.slabinfo()) {
            in_use.insert(cache.name, cache.active_objs);
            if !is_kmalloc_name(cache.name) {
                let known = sizes.given.entry(cache.objsize);
                known.and_modify(|name| *name = None).or_insert(Some(cache.name));
            }
        }
        let sysfs = slabs.iter().find(|slabs| !slabs.caches.is_empty());
        for cache in sysfs.into_iter().flat_map(|slabs| &slabs.caches) {
            let of = cache.number("object_size").zip(cache.number("slab_size"));
            let place = caches.iter().position(|told| told.name == cache.name);
            let voted = place.and_then(|place| voted.get(&(place as u32))).copied().unwrap_or(0);
            let untold = in_use.get(cache.name.as_str()).map(|used| used.saturating_sub(voted));
            sizes.object_bytes.extend(of.map(|(bytes, _)| (cache.name.as_str(), bytes)));
            let is_kmalloc = is_kmalloc_name(&cache.name);
            // Its allocations would have the name of its frees; those of a class are of many caches.
            let is_told = !is_kmalloc && place.is_some_and(|place| caches[place].frees > 0);
            if let Some((of, untold)) = of.zip(untold).filter(|_| !is_told) {
                let by_size = if is_kmalloc { &mut sizes.exact_kmalloc } else { &mut sizes.exact };
                let candidates: &mut Vec<_> = by_size.entry(of).or_default();
                candidates.push(Candidate { name: &cache.name, untold });
            }
        }
        sizes
    }

    /// Returns the likeliest cache of an allocation, which is told of now.
    fn cache(&mut self, event: &Event) -> Option<&'a str> {
        let of = (event.bytes_req, event.bytes_alloc);
        likeliest(&mut self.exact, of)
            .or_else(|| {
                let only = self.given.get(&event.bytes_alloc).copied().flatten()?;
                // What was merged may have had smaller objects before, but not larger ones.
                let object_bytes = self.object_bytes.get(only).copied().unwrap_or(u64::MAX);
                (event.bytes_req <= object_bytes).then_some(only)
            })
            .or_else(|| likeliest(&mut self.exact_kmalloc, of))
    }
}

/// Returns the cache of these sizes with most objects in use that no event has mentioned, if one has any.
fn likeliest<'a>(
    by_size: &mut FxHashMap<(u64, u64), Vec<Candidate<'a>>>,
    of: (u64, u64),
) -> Option<&'a str> {
    let candidates = by_size.get_mut(&of)?;
    let likeliest = candidates.iter_mut().max_by_key(|cache| cache.untold)?;
    likeliest.untold = likeliest.untold.checked_sub(1)?;
    Some(likeliest.name)
}

/// The cache of each nameless allocation, in a file but for the last.
#[derive(Debug)]
struct Caches {
    file: File,
    /// Number of the first of `recent`.
    first: u64,
    recent: Vec<u32>,
}

impl Caches {
    fn create(path: &Path) -> Result<Caches, Error> {
        let file = tempfile::tempfile()
            .map_err(|e| Error::io(path, "cannot make a temporary file for", e))?;
        Ok(Caches { file, first: 0, recent: Vec::new() })
    }

    fn len(&self) -> u64 {
        self.first + self.recent.len() as u64
    }

    /// Appends one that is not known.
    fn push(&mut self, path: &Path) -> Result<(), Error> {
        if self.recent.len() == 2 * RECENT {
            self.store(RECENT, path)?;
        }
        self.recent.push(NONE);
        Ok(())
    }

    /// Moves the first `count` of `recent` to the file.
    fn store(&mut self, count: usize, path: &Path) -> Result<(), Error> {
        let bytes: Vec<u8> = self.recent.drain(..count).flat_map(u32::to_le_bytes).collect();
        self.first += count as u64;
        self.file.write_all(&bytes).map_err(|e| Error::io(path, SPOOL_WRITE, e))
    }

    fn set(&mut self, number: u64, cache: u32, path: &Path) -> Result<(), Error> {
        match number.checked_sub(self.first) {
            Some(recent) => {
                self.recent[recent as usize] = cache;
                Ok(())
            }
            None => {
                let bytes = cache.to_le_bytes();
                let written = self.file.write_all_at(&bytes, number * bytes.len() as u64);
                written.map_err(|e| Error::io(path, SPOOL_WRITE, e))
            }
        }
    }

    /// Returns them from the first on.
    fn read(&mut self, path: &Path) -> Result<CachesRead, Error> {
        self.store(self.recent.len(), path)?;
        let rewound = self.file.rewind().and_then(|()| self.file.try_clone());
        let file = rewound.map_err(|e| Error::io(path, SPOOL_READ, e))?;
        Ok(CachesRead(BufReader::with_capacity(64 << 10, file)))
    }
}

const SPOOL_WRITE: &str = "cannot write a temporary file for";
const SPOOL_READ: &str = "cannot read a temporary file for";

struct CachesRead(BufReader<File>);

impl CachesRead {
    fn next(&mut self, path: &Path) -> Result<u32, Error> {
        let mut bytes = [0; 4];
        self.0.read_exact(&mut bytes).map_err(|e| Error::io(path, SPOOL_READ, e))?;
        Ok(u32::from_le_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SlubCache;

    #[test]
    fn what_was_merged_with_a_class_is_not_of_the_only_other_cache_of_that_size() {
        let line =
            |name, used| format!("{name} {used} 21 192 21 1 : tunables 0 0 0 : slabdata 1 1 0");
        let cache = |name: &str, object_size| SlubCache {
            name: name.to_owned(),
            numbers: [("object_size", object_size), ("slab_size", 192)]
                .map(|(name, number)| (name.to_owned(), number))
                .into(),
            ..SlubCache::default()
        };
        let slabs = SlabSnapshot {
            slabinfo: format!("version\n#\n{}\n{}\n", line("filp", 9), line("kmalloc-192", 2)),
            caches: vec![cache("filp", 160), cache("kmalloc-192", 192)],
            ..SlabSnapshot::default()
        };
        let told = RecordedCache { name: "filp".into(), frees: 1, ..RecordedCache::default() };
        let mut sizes = Sizes::of(&[&slabs], &[told], &FxHashMap::default());
        let mut of = |bytes_req| {
            let event = Event { bytes_req, bytes_alloc: 192, ..RawEvent::EMPTY.to_row(NONE) };
            sizes.cache(&event)
        };
        assert_eq!([of(192), of(192), of(192)], [Some("kmalloc-192"), Some("kmalloc-192"), None]);
        assert_eq!(of(160), Some("filp"));
    }

    /// Linux 6.12 merges dentries with kmalloc-rcl-192. 400 of them, known from their call site's frees, used to draw in
    /// objects of kmalloc-192 that were never freed, so that 62 dentries seemed to be freed unseen.
    #[test]
    fn objects_that_a_call_sites_frees_told_of_are_in_use_and_not_untold() {
        let line =
            |name, used| format!("{name} {used} 21 192 21 1 : tunables 0 0 0 : slabdata 1 1 0");
        let cache = |name: &str| SlubCache {
            name: name.to_owned(),
            numbers: [("object_size", 192), ("slab_size", 192)]
                .map(|(name, number)| (name.to_owned(), number))
                .into(),
            ..SlubCache::default()
        };
        let names = ["kmalloc-rcl-192", "kmalloc-192"];
        let slabs = SlabSnapshot {
            slabinfo: format!("version\n#\n{}\n{}\n", line(names[0], 5), line(names[1], 2)),
            caches: names.map(cache).into(),
            ..SlabSnapshot::default()
        };
        let mut rows = Rows::create(Path::new("test")).unwrap();
        let event = |site| Event { site, bytes_req: 192, ..RawEvent::EMPTY.to_row(NONE) };
        let event = |site| Event { bytes_alloc: 192, kind: Kind::KmemCacheAlloc, ..event(site) };
        // Of five live dentries one was preceded by one that was freed; of the two others none was.
        for (site, count) in [(0, 6), (1, 2)] {
            for number in 0..count {
                let unnamed = rows.next_unnamed(&event(site));
                rows.push(&event(site)).unwrap();
                if (site, number) == (0, 0) {
                    rows.name(unnamed, 0).unwrap();
                }
            }
        }
        assert_eq!(rows.voted(), FxHashMap::from_iter([(0, 5)]));
        let told = RecordedCache { name: names[0].into(), frees: 1, ..RecordedCache::default() };
        let mut sizes = Sizes::of(&[&slabs], &[told], &rows.voted());
        let all = [1, 1, 1].map(|site| sizes.cache(&event(site)));
        assert_eq!(all, [Some(names[1]), Some(names[1]), None]);
    }

    #[test]
    fn allocations_without_a_free_are_from_the_cache_with_objects_in_use_that_nobody_told_of() {
        let line =
            |name, used| format!("{name} {used} 9 256 16 1 : tunables 0 0 0 : slabdata 1 1 0");
        let names = [("kmem_cache", 2), ("idle", 0), ("freed", 9), ("other", 1)];
        let lines: Vec<_> = names.iter().map(|(name, used)| line(name, used)).collect();
        let cache = |(name, _): &(&str, i32)| SlubCache {
            name: (*name).into(),
            numbers: [
                ("object_size", if *name == "other" { 256 } else { 224 }),
                ("slab_size", 256),
            ]
            .map(|(name, number)| (name.to_owned(), number))
            .into(),
            ..SlubCache::default()
        };
        let slabs = SlabSnapshot {
            slabinfo: format!("version\n#\n{}\n", lines.join("\n")),
            caches: names.iter().map(cache).collect(),
            ..SlabSnapshot::default()
        };
        let told = RecordedCache { name: "freed".into(), frees: 1, ..RecordedCache::default() };
        let mut sizes = Sizes::of(&[&slabs], &[told], &FxHashMap::default());
        let event =
            |bytes_req| Event { bytes_req, bytes_alloc: 256, ..RawEvent::EMPTY.to_row(NONE) };
        let all = [224, 224, 224, 256, 200].map(|bytes_req| sizes.cache(&event(bytes_req)));
        assert_eq!(all, [Some("kmem_cache"), Some("kmem_cache"), None, Some("other"), None]);
    }

    #[test]
    fn caches_are_kept_in_memory_and_in_the_file() {
        let path = Path::new("test");
        let mut caches = Caches::create(path).unwrap();
        let count = 3 * RECENT as u64 + 5;
        let cache_of = |number: u64| if number.is_multiple_of(5) { NONE } else { number as u32 };
        for number in 0..count {
            caches.push(path).unwrap();
            if number % 2 == 0 && cache_of(number) != NONE {
                caches.set(number, cache_of(number), path).unwrap();
            }
        }
        assert_eq!(caches.len(), count);
        for number in (1..count).step_by(1999).chain([1, count - 2]) {
            caches.set(number, cache_of(number), path).unwrap();
        }
        let mut read = caches.read(path).unwrap();
        for number in 0..count {
            let set = number % 2 == 0 || number % 1999 == 1 || number == count - 2;
            let expected = if set { cache_of(number) } else { NONE };
            assert_eq!(read.next(path).unwrap(), expected, "{number}");
        }
    }
}
