//! Names, arguments and aliases of the caches; creation, merging, destruction.
//!
//! # How it works
//! Entries stand in creation order, which is the order in which a new cache looks for one to merge
//! with. All code here is on slow paths, under one lock.
//!
//! Linux counterpart: `__kmem_cache_alias`, `find_mergeable`, `slab_mutex` @ 6.1.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::args::CacheArgs;
use super::flags::SlabFlags;
use super::geometry;
use super::paths::PathCounts;
use super::table::CacheTable;
use crate::error::Error;
use crate::ids::CacheId;

/// What makes a cache aligned well enough to serve another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aligned {
    /// The distance between its objects: slabs start at a page.
    BySize,
    /// The alignment of the cache itself.
    Itself,
}

/// A living cache's cold half.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) id: CacheId,
    pub(crate) args: CacheArgs,
    /// Names of the caches that merged into this one.
    pub(crate) aliases: Vec<String>,
    /// Creations minus destructions; 0 while a thread is destroying it.
    pub(crate) users: u32,
}

/// All living caches, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    entries: Vec<Entry>,
    /// Counts of destroyed caches whose index another cache has now.
    pub(crate) retired: PathCounts,
    /// Places of destroyed caches, reusable.
    vacant: Vec<u32>,
    next: u32,
}

impl Registry {
    /// Returns the living caches, oldest first.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the number of places that caches have or had.
    pub(crate) fn places(&self) -> usize {
        self.next as usize
    }

    /// Returns a cache's entry.
    pub(crate) fn entry(&self, id: CacheId) -> Option<&Entry> {
        self.entries.get(self.place(id)?)
    }

    pub(crate) fn entry_mut(&mut self, id: CacheId) -> Option<&mut Entry> {
        let place = self.place(id)?;
        self.entries.get_mut(place)
    }

    /// Returns where a cache stands among the entries. It is not before caches that are older and live; so without any
    /// destroyed one it is where its index says.
    fn place(&self, id: CacheId) -> Option<usize> {
        let likely = id.index();
        match self.entries.get(likely) {
            Some(entry) if entry.id == id => Some(likely),
            _ => self.entries.iter().position(|entry| entry.id == id),
        }
    }

    /// Finds a place for a new cache.
    pub(crate) fn reserve(&mut self, table: &CacheTable, name: &str) -> Result<CacheId, Error> {
        let caches_max = table.slots().len() as u32;
        let index = match self.vacant.pop() {
            Some(index) => index,
            None if self.next < caches_max => {
                self.next += 1;
                self.next - 1
            }
            None => return Err(Error::TooManyCaches { name: name.to_string(), caches_max }),
        };
        let slot = &table.slots()[index as usize];
        slot.generation.add(1);
        let id = CacheId::new(index, slot.generation.get() & 0xfff);
        slot.id.set(id.0);
        Ok(id)
    }

    /// Enters a new cache.
    pub(crate) fn insert(&mut self, id: CacheId, args: CacheArgs) {
        self.entries.push(Entry { id, args, aliases: Vec::new(), users: 1 });
    }

    /// Removes a cache and frees its place.
    pub(crate) fn remove(&mut self, table: &CacheTable, id: CacheId) {
        self.entries.retain(|e| e.id != id);
        table.get(id).generation.add(1);
        self.vacant.push(id.index() as u32);
    }

    /// Finds a cache that can serve `args` as well (Linux: `find_mergeable`).
    pub(crate) fn find_mergeable(
        &self,
        table: &CacheTable,
        args: &CacheArgs,
        aligned: Aligned,
    ) -> Option<CacheId> {
        if !mergeable(args) {
            return None;
        }
        let align = geometry::alignment(args.flags, args.align, args.object_size);
        let size = args.object_size.next_multiple_of(geometry::ALIGN_MIN).next_multiple_of(align);
        let living = self.entries.iter().filter(|e| e.users > 0 && mergeable(&e.args));
        living.map(|e| e.id).find(|&id| {
            let slot = table.get(id);
            let same = SlabFlags::MERGE_SAME;
            size <= slot.size.get()
                && slot.size.get() - size < geometry::ALIGN_MIN
                && slot.size.get().is_multiple_of(align)
                && args.flags.only(same) == slot.flags().only(same)
                && (aligned == Aligned::BySize || slot.align.get().is_multiple_of(align))
        })
    }
}

fn mergeable(args: &CacheArgs) -> bool {
    !args.flags.any(SlabFlags::NEVER_MERGE)
        && args.ctor.is_none()
        && args.usersize == 0
        && args.geometry.is_none()
        && args.tunables == super::args::Tunables::default()
}
