//! What a module gets and gives back, told to the parent: for `--explain`.
//!
//! # How it works
//! The way of each operation leads through here if it is told or checked. What is given back is told before the machine
//! has it, and what is got after the machine gave it.
//!
//! # Invariants
//! Between two events that a module got an address there is one that it gave it back.

use slablab_kmem::{Backend, CacheId, Gfp, PAGE_SIZE};

use super::engine::{Engine, ZERO_SIZE_PTR};
use super::handle::CacheHandle;
use crate::context;
use crate::event::{CacheSeen, Event, Origin};
use crate::runtime::{self, emit, lock};

/// What the blocks of `kmalloc()` are called that lie in no slab.
const LARGE: &str = "kmalloc, whole pages";

impl<B: Backend> Engine<B> {
    #[cold]
    pub(super) fn kmalloc_watched(&self, bytes: u64, gfp: Gfp, site: u64) -> u64 {
        let address = if self.checked {
            self.kmalloc_checked(bytes, gfp, site)
        } else {
            let object = self.kmalloc_object(bytes, gfp, site);
            self.address(object)
        };
        self.tell_got(address, bytes, site, || self.origin(address, bytes, None));
        address
    }

    #[cold]
    pub(super) fn kfree_watched(&self, address: u64, site: u64) {
        self.tell_gave(address, site);
        if self.checked {
            self.kfree_checked(address, site);
        } else {
            self.kfree_plain(address, site);
        }
    }

    #[cold]
    pub(super) fn cache_alloc_watched(&self, cache: &CacheHandle, gfp: Gfp, site: u64) -> u64 {
        let address = if self.checked {
            self.cache_alloc_checked(cache, gfp, site)
        } else {
            let object = self.cache_object(cache, gfp, site);
            self.address(object)
        };
        let bytes = u64::from(cache.object_bytes);
        self.tell_got(address, bytes, site, || self.origin(address, bytes, Some(cache)));
        address
    }

    #[cold]
    pub(super) fn cache_free_watched(&self, cache: &CacheHandle, address: u64, site: u64) {
        self.tell_gave(address, site);
        if self.checked {
            self.cache_free_checked(cache, address, site);
        } else {
            self.cache_free_plain(cache, address, site);
        }
    }

    #[cold]
    pub(super) fn bucket_alloc_watched(
        &self,
        cache: &CacheHandle,
        size: u64,
        gfp: Gfp,
        site: u64,
    ) -> u64 {
        let address = if self.checked {
            self.bucket_alloc_checked(cache, size, gfp, site)
        } else {
            let object = self.cache_object(cache, gfp, site);
            self.address(object)
        };
        self.tell_got(address, size, site, || self.origin(address, size, Some(cache)));
        address
    }

    /// Tells that the module got a block of pages.
    pub(super) fn tell_pages(&self, pfn: u32, order: u32, site: u64) {
        if self.told {
            let bytes = PAGE_SIZE << order;
            let from = || Self::other("pages", bytes);
            self.tell_got(self.page_address(pfn), bytes, site, from);
        }
    }

    /// Tells that the module got `bytes`; no memory is at address 0, and none was asked for at that of `kmalloc(0)`.
    pub(super) fn tell_got(
        &self,
        address: u64,
        bytes: u64,
        site: u64,
        from: impl FnOnce() -> Origin,
    ) {
        if !self.told || address <= ZERO_SIZE_PTR {
            return;
        }
        let (cpu, site) = (context::cpu(), runtime::offset(site));
        emit(&Event::Got { cpu, address, bytes, site, from: from() });
    }

    /// Tells that the module gives back what lies at an address.
    pub(super) fn tell_gave(&self, address: u64, site: u64) {
        if self.told && address > ZERO_SIZE_PTR {
            emit(&Event::Gave { cpu: context::cpu(), address, site: runtime::offset(site) });
        }
    }

    /// Tells that the block at an address has another size.
    pub(super) fn tell_resized(&self, address: u64, bytes: u64) {
        if self.told {
            emit(&Event::Resized { address, bytes });
        }
    }

    /// Tells that the pages from an address are blocks of one page from now on.
    pub(super) fn tell_split(&self, address: u64) {
        if self.told {
            emit(&Event::Split { address });
        }
    }

    /// Returns the origin of memory that lies in no slab.
    pub(super) fn other(name: &str, held_bytes: u64) -> Origin {
        Origin::Other { name: name.into(), held_bytes }
    }

    /// Returns where an object lies: one of a cache of the module's own, or of kmalloc.
    fn origin(&self, address: u64, bytes: u64, cache: Option<&CacheHandle>) -> Origin {
        let place = self.object(address).and_then(|object| self.machine.object_at(object));
        if let Some((id, slab, _)) = place
            && let Some(number) = self.number(id, cache)
        {
            return Origin::Slab { cache: number, slab: self.page_address(slab.0) };
        }
        let held_bytes = self.machine_ksize(address).max(bytes);
        match cache {
            Some(cache) => Self::other(&cache.name.to_string_lossy(), held_bytes),
            None if B::KIND.has_kmalloc_caches() => Self::other(LARGE, held_bytes),
            None => Self::other("kmalloc", held_bytes),
        }
    }

    /// Returns the number of a cache, which is told the first time; a number stands for one geometry and one name.
    fn number(&self, id: CacheId, cache: Option<&CacheHandle>) -> Option<u32> {
        let stats = self.machine.cache_stats(id)?;
        let name = cache.map(|cache| cache.name.to_string_lossy().into_owned());
        let seen = CacheSeen {
            is_own: name.is_some(),
            name: name.unwrap_or_else(|| stats.name.clone()),
            slabs_of: stats.name,
            object_bytes: cache.map_or(stats.object_size, |cache| cache.object_bytes).into(),
            slot_bytes: stats.slab_size.into(),
            slab_bytes: stats.order.bytes(),
            objects_per_slab: stats.objs_per_slab.into(),
        };
        let mut told = lock(&self.caches_told);
        let known = told.iter().position(|(of, known)| *of == id && *known == seen);
        let number = known.unwrap_or_else(|| {
            emit(&Event::Cache(seen.clone()));
            told.push((id, seen));
            told.len() - 1
        });
        u32::try_from(number).ok()
    }
}
