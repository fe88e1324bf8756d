//! The allocators, behind one trait.
//!
//! # How it works
//! [`Backend`] is what a machine is generic over: dispatch is static, and the choice at run time
//! happens once, in [`BackendKind::dispatch`]. `for_each_backend!` is the one list of backends; it
//! generates [`BackendKind`], the dispatch and the conformance tests. Another backend is a folder
//! here and a line there: its module, type, name and what it is.

pub(crate) mod carve;
pub(crate) mod ops;
mod own_blocks;
mod partial;
mod sheaves;

pub use sheaves::sheaf_capacity_of;

use slablab_linux::{Release, Slub as SlubForm};

use crate::cache::Tunable;
use crate::cache::paths::common;
use crate::cpu::LockKind;
use crate::error::Error;
use ops::Ops;

/// Calls `$with! { module Variant "name" "what it is", ... }` with every backend.
macro_rules! for_each_backend {
    ($with:ident) => {
        $with! {
            slab Slab "slab" "per-CPU arrays of free objects before slabs on three lists",
            slub Slub "slub" "per-CPU slabs with a free list each; Linux's default",
            slub_sheaves SlubSheaves "slub-sheaves" "per-CPU arrays of free objects, the sheaves of Linux 7.0 on",
            slub_hybrid SlubHybrid "slub-hybrid" "SLUB with sheaves for two caches, as in Linux 6.18 and 6.19",
            slub_tiny SlubTiny "slub-tiny" "slabs on one list a node, no CPU caches; for small memories",
            dense Dense "dense" "SLUB_TINY's slabs behind magazines that adapt; ours",
            slob Slob "slob" "one heap of pages for blocks of any size, one lock",
            slmb Slmb "slmb" "SLOB's carving with lists of its own for every CPU",
        }
    };
}
#[cfg(all(test, not(loom)))]
pub(crate) use for_each_backend;

/// An allocator that a [`crate::Machine`] can run.
///
/// Sealed: backends live in this crate, since they stand on its inner parts.
pub trait Backend: Ops {
    /// The kind of this backend.
    const KIND: BackendKind;
}

/// What to do with the backend that was chosen at run time: see [`BackendKind::dispatch`].
pub trait WithBackend {
    /// The result.
    type Output;
    /// Runs it with the backend `B`.
    fn run<B: Backend>(self) -> Self::Output;
}

macro_rules! define_kind {
    ($($module:ident $variant:ident $name:literal $what:literal,)*) => {
        $(pub(crate) mod $module;
        pub use $module::$variant;)*

        /// One of the allocators, chosen at run time. Displays and parses as its lower-case name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum BackendKind { $(#[doc = $what] $variant,)* }

        impl BackendKind {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];
            const KNOWN: &'static str = concat!($($name, " ",)*);

            /// Returns the lower-case name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the names of the locks that a machine counts under it.
            pub fn lock_names(self) -> impl Iterator<Item = &'static str> {
                let own = match self { $(Self::$variant => <$variant as Ops>::LOCKS,)* };
                LockKind::COMMON.iter().chain(own).copied()
            }

            /// Returns the names of the paths that a machine counts under it.
            pub fn path_names(self) -> impl Iterator<Item = &'static str> {
                let own = match self { $(Self::$variant => <$variant as Ops>::STATS,)* };
                common::NAMES.iter().chain(own.iter().copied().flatten()).copied()
            }

            /// Returns what may be tuned in it.
            pub fn tunables(self) -> &'static [Tunable] {
                match self { $(Self::$variant => <$variant as Ops>::TUNABLES,)* }
            }

            /// Returns whether its kmalloc has caches of fixed classes.
            pub fn has_kmalloc_caches(self) -> bool {
                match self { $(Self::$variant => <$variant as Ops>::KMALLOC_CACHES,)* }
            }

            /// Returns whether it runs on pages of that many bytes.
            pub fn has_pages_of(self, bytes: u64) -> bool {
                bytes == crate::PAGE_SIZE
                    || !match self { $(Self::$variant => <$variant as Ops>::SMALL_PAGES_ONLY,)* }
            }

            /// Returns whether its caches may share slabs.
            pub fn merges(self) -> bool {
                let of = match self { $(Self::$variant => <$variant as Ops>::MERGEABLE,)* };
                of != ops::Mergeable::Never
            }

            /// Returns whether it takes sizes that another kernel reported ([`crate::Geometry`]).
            pub fn takes_geometry(self) -> bool {
                match self { $(Self::$variant => <$variant as Ops>::TAKES_GEOMETRY,)* }
            }

            /// Returns what it is, in half a sentence.
            pub fn about(self) -> &'static str {
                match self { $(Self::$variant => $what,)* }
            }

            /// Runs generic code with the backend of this kind.
            pub fn dispatch<W: WithBackend>(self, with: W) -> W::Output {
                match self { $(Self::$variant => with.run::<$variant>(),)* }
            }
        }

        impl core::str::FromStr for BackendKind {
            type Err = Error;

            fn from_str(name: &str) -> Result<Self, Error> {
                match name {
                    $($name => Ok(Self::$variant),)*
                    _ => Err(Error::NoBackend { name: name.into(), known: Self::KNOWN }),
                }
            }
        }

        $(impl Backend for $variant { const KIND: BackendKind = BackendKind::$variant; })*
    };
}
for_each_backend!(define_kind);

impl BackendKind {
    /// Those that are compared by default: the allocators of Linux 6.1, and SLMB.
    pub const USUAL: &'static [Self] = &[Self::Slab, Self::Slub, Self::Slob, Self::Slmb];

    /// Returns the allocator that Linux has in a release, for example `7.3.4-amd64`. Returns `None` where the release does
    /// not tell, as SLUB has several forms there ([`Release::allocator_is_slub`]), and for text that names no release.
    pub fn of_release(release: &str) -> Option<Self> {
        let release = Release::of(release).filter(|release| release.allocator_is_slub())?;
        Some(match release.slub() {
            SlubForm::Classic => Self::Slub,
            SlubForm::Hybrid => Self::SlubHybrid,
            SlubForm::Sheaves => Self::SlubSheaves,
        })
    }
}

impl core::fmt::Display for BackendKind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}
