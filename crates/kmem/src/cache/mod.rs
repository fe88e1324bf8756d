//! The `kmem_cache` front: what a cache is, before any backend serves it.
//!
//! # How it works
//! [`CacheArgs`] describes a cache; `geometry` turns that into sizes and order as Linux does; the
//! numbers that the hot paths need stand in the dense [`table`], names and constructors in the
//! `registry`. `kmalloc` maps a size and gfp flags to one of the boot caches.
//!
//! Linux counterpart: `mm/slab_common.c` @ 6.1.

pub(crate) mod args;
pub(crate) mod blocks;
pub(crate) mod core;
pub(crate) mod cx;
pub(crate) mod findings;
pub(crate) mod flags;
pub mod geometry;
pub(crate) mod grace;
pub(crate) mod kmalloc;
pub(crate) mod links;
pub(crate) mod paths;
pub(crate) mod registry;
pub(crate) mod setup;
pub(crate) mod slab_log;
pub(crate) mod table;
pub(crate) mod track;

pub use args::{CacheArgs, Ctor, Geometry, Tunable, Tunables};
pub use flags::SlabFlags;
pub use kmalloc::{CopiesApply, CopyOfSite, KmallocConfig};
