//! Which cache serves a `kmalloc`.
//!
//! # How it works
//! A table indexed by `(size - 1) / 8` gives the class; gfp flags give the type, as the kernel's
//! configuration has them; with several copies of each class the call site picks one. Almost all
//! calls want plain memory of one copy, and a table leads them straight to the cache.
//!
//! Linux counterpart: `kmalloc_slab`, `kmalloc_type`, `create_kmalloc_caches` in
//! `mm/slab_common.c` @ 6.1 (copies: `CONFIG_RANDOM_KMALLOC_CACHES` @ 6.6).

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use slablab_linux::{KmallocType, size_name};

use super::args::{CacheArgs, Tunables};
use super::flags::SlabFlags;
use crate::Gfp;
use crate::ids::{CacheId, Site};

/// Returns the flags of the caches of a type.
fn flags(kind: KmallocType) -> SlabFlags {
    match kind {
        KmallocType::Normal => SlabFlags::NONE,
        KmallocType::Reclaim => SlabFlags::RECLAIM_ACCOUNT,
        KmallocType::Dma => SlabFlags::CACHE_DMA,
        KmallocType::Cgroup => SlabFlags::ACCOUNT | SlabFlags::NO_MERGE,
        KmallocType::NoObjExt => SlabFlags::NO_MERGE,
    }
}

/// Which kmalloc caches a machine boots with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KmallocConfig {
    /// Object sizes in bytes, rising; the largest is where the page allocator takes over.
    pub classes: Vec<u32>,
    /// Types beside [`KmallocType::Normal`], as the kernel's configuration has them.
    pub types: Vec<KmallocType>,
    /// Copies of each class of the normal type, chosen by call site (`CONFIG_RANDOM_KMALLOC_CACHES`: 16);
    /// 1 for one.
    pub copies: u32,
    /// Which copy serves which call site; a hash of the site's number if `None`.
    pub copy_of_site: Option<CopyOfSite>,
    /// Whether kmalloc caches take part in merging (false with `CONFIG_HARDENED_USERCOPY`).
    pub merge: bool,
    /// Tunables of the kmalloc caches.
    pub tunables: Tunables,
    /// Tunables of single kmalloc caches by name, instead of `tunables`.
    pub tunables_by_name: Vec<(String, Tunables)>,
}

/// A choice of copies by call site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyOfSite {
    /// Copies by number of the site; 0 for the usual caches, and for sites beyond its end.
    pub copies: Vec<u16>,
    /// Prefixes of the caches' names, before their size, for each copy but the first.
    pub prefixes: Vec<String>,
    /// Which allocations the copies are for.
    pub applies: CopiesApply,
}

/// Which allocations have copies of caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopiesApply {
    /// Those of the normal type (`CONFIG_RANDOM_KMALLOC_CACHES`).
    ToNormal,
    /// Those of any type (`kmem_buckets`).
    ToAll,
}

impl KmallocConfig {
    /// Linux's classes: powers of two from 8 to 8192, and 96 and 192.
    pub const LINUX: [u32; 13] = [8, 16, 32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192];

    /// Returns Linux's classes on a machine whose smallest has `bytes_min` (a power of two from 8 on,
    /// `KMALLOC_MIN_SIZE`) and whose pages have `page_bytes`: powers of two up to two pages, and 96 and 192 where
    /// they lie between two of them.
    pub fn linux_classes(bytes_min: u32, page_bytes: u32) -> Vec<u32> {
        let powers = (3..32).map(|shift| 1u32 << shift).skip_while(|&class| class < bytes_min);
        let powers = powers.take_while(|&class| class <= page_bytes.saturating_mul(2));
        let mut classes: Vec<u32> = powers.collect();
        classes.extend(
            [(96, 32), (192, 64)]
                .iter()
                .filter(|(_, least)| bytes_min <= *least)
                .map(|(class, _)| class),
        );
        classes.sort_unstable();
        classes
    }
}

impl Default for KmallocConfig {
    /// A distribution kernel's: all types, no copies, hardened user copy.
    fn default() -> Self {
        Self {
            classes: Self::LINUX.to_vec(),
            types: vec![KmallocType::Reclaim, KmallocType::Dma, KmallocType::Cgroup],
            copies: 1,
            copy_of_site: None,
            merge: false,
            tunables: Tunables::default(),
            tunables_by_name: Vec::new(),
        }
    }
}

/// The kmalloc caches of a machine.
#[derive(Debug)]
pub(crate) struct Kmalloc {
    /// Normal cache by `(size - 1) / 8`; empty if there are copies.
    normal: Vec<CacheId>,
    /// Class by `(size - 1) / 8`.
    class: Vec<u8>,
    /// Caches by `row * classes + class`: a row for each copy of the normal type, then one for each other
    /// type; a missing type repeats the first copy of the normal one.
    caches: Vec<CacheId>,
    classes: usize,
    copies: usize,
    copy_of_site: Option<CopyOfSite>,
}

impl Kmalloc {
    /// Creates the caches through `create`, whose first error ends it.
    pub(crate) fn new<E>(
        config: &KmallocConfig,
        mut create: impl FnMut(CacheArgs) -> Result<CacheId, E>,
    ) -> Result<Self, E> {
        let copies = config.copies.max(1) as usize;
        let classes = config.classes.len();
        let size_max = u64::from(config.classes.last().copied().unwrap_or(0));
        let mut class = vec![0; (size_max / 8) as usize];
        for (size, of) in (8u64..).step_by(8).zip(&mut class) {
            *of = config.classes.iter().position(|&c| u64::from(c) >= size).unwrap_or(0) as u8;
        }
        let mut caches = Vec::new();
        for kind in KmallocType::ALL {
            if kind != KmallocType::Normal && !config.types.contains(&kind) {
                caches.extend_from_within(..classes);
                continue;
            }
            for copy in 0..if kind == KmallocType::Normal { copies } else { 1 } {
                for &size in &config.classes {
                    let prefix = config
                        .copy_of_site
                        .as_ref()
                        .and_then(|by_site| by_site.prefixes.get(copy.checked_sub(1)?));
                    let name = match prefix {
                        Some(prefix) => format!("{prefix}{}", size_name(size.into())),
                        None if copy > 0 => {
                            format!("kmalloc-rnd-{copy:02}-{}", size_name(size.into()))
                        }
                        None => kind.name(size.into()),
                    };
                    let own = config.tunables_by_name.iter().find(|(cache, _)| *cache == name);
                    let tunables = own.map_or(&config.tunables, |(_, tunables)| tunables).clone();
                    let mut args = CacheArgs::new(name, size).flags(flags(kind));
                    // Powers of two are aligned to their own size.
                    args.align = if size.is_power_of_two() { size } else { 0 };
                    args.tunables = tunables;
                    args.usersize = if config.merge { 0 } else { size };
                    if copy > 0 {
                        args.flags |= SlabFlags::NO_MERGE;
                    }
                    caches.push(create(args)?);
                }
            }
        }
        let plain = if copies == 1 { class.as_slice() } else { &[] };
        let normal = plain.iter().map(|&class| caches[usize::from(class)]).collect();
        let copy_of_site = config.copy_of_site.clone();
        Ok(Self { normal, class, caches, classes, copies, copy_of_site })
    }

    /// Returns a kmalloc without caches, which serves no size itself.
    pub(crate) fn none() -> Self {
        let (normal, class, caches) = (Vec::new(), Vec::new(), Vec::new());
        Self { normal, class, caches, classes: 0, copies: 1, copy_of_site: None }
    }

    /// Returns the cache for `size` bytes; `None` for 0, and for sizes that the page allocator has
    /// to serve.
    #[inline(always)]
    pub(crate) fn cache(&self, size: u64, gfp: Gfp, site: Site) -> Option<CacheId> {
        let index = Self::index(size);
        match self.normal.get(index) {
            Some(&id) if Self::is_plain(gfp) => Some(id),
            _ => self.typed(index, gfp, site),
        }
    }

    /// Returns the place of a size in tables by size; beyond all of them for 0.
    #[inline(always)]
    pub(crate) fn index(size: u64) -> usize {
        (size.wrapping_sub(1) / 8) as usize
    }

    /// Returns whether gfp flags select the normal type.
    #[inline(always)]
    pub(crate) fn is_plain(gfp: Gfp) -> bool {
        gfp.0 & TYPED == 0
    }

    /// Returns the caches of the normal type by [`Self::index`]; an empty slice if there are
    /// copies.
    pub(crate) fn plain(&self) -> &[CacheId] {
        &self.normal
    }

    /// Returns whether a cache is one of kmalloc's (`SLAB_KMALLOC`).
    pub(crate) fn has(&self, id: CacheId) -> bool {
        self.caches.contains(&id)
    }

    /// Returns the cache of a type or a copy.
    #[inline(never)]
    fn typed(&self, index: usize, gfp: Gfp, site: Site) -> Option<CacheId> {
        let class = usize::from(*self.class.get(index)?);
        let row = match KmallocType::of(gfp) {
            KmallocType::Normal => self.copy(site),
            other => match &self.copy_of_site {
                Some(CopyOfSite { applies: CopiesApply::ToAll, .. }) if self.copy(site) > 0 => {
                    self.copy(site)
                }
                _ => self.copies + other as usize - 1,
            },
        };
        Some(self.caches[row * self.classes + class])
    }

    /// Returns the copy that serves a call site.
    fn copy(&self, site: Site) -> usize {
        match &self.copy_of_site {
            Some(by_site) => {
                let copy = by_site.copies.get(site.0 as usize).copied().unwrap_or(0);
                usize::from(copy).min(self.copies - 1)
            }
            // Fibonacci hashing spreads neighbouring site numbers.
            None => (site.0.wrapping_mul(0x9e37_79b9) >> 16) as usize % self.copies,
        }
    }
}

/// Flags that select another type than the normal one.
const TYPED: u32 = Gfp::DMA.0 | Gfp::RECLAIMABLE.0 | Gfp::ACCOUNT.0;
