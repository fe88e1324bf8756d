//! What a caller says about a new cache.

use alloc::string::String;
use alloc::vec::Vec;
use core::ptr::NonNull;

use super::flags::SlabFlags;
use crate::ids::Order;

/// A constructor: called once for every object when its slab is made.
#[derive(Debug, Clone, Copy)]
pub struct Ctor {
    /// Gets the object's address and `context`.
    pub func: fn(NonNull<u8>, usize),
    /// Passed on as it is.
    pub context: usize,
}

/// Sizes as another kernel reports them under `/sys/kernel/slab`, to be taken as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes from one object to the next (`slab_size`).
    pub slab_size: u32,
    /// Order of a slab in pages (`order`). With `None` the order is chosen here, as for pages of
    /// another size.
    pub order: Option<Order>,
}

/// A value of a backend that can be tuned, for a machine or for one cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tunable {
    /// Name that the kernel has for it.
    pub name: &'static str,
    /// Name as an option of a command.
    pub option: &'static str,
    /// What it sets, in half a sentence.
    pub about: &'static str,
    /// Largest value.
    pub max: u32,
}

impl Tunable {
    pub(crate) const fn new(
        (name, option): (&'static str, &'static str),
        max: u32,
        about: &'static str,
    ) -> Self {
        Self { name, option, about, max }
    }
}

/// Values of [`Tunable`]s by name; one that is not set keeps the backend's own rule.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tunables(Vec<(&'static str, u32)>);

impl Tunables {
    /// Sets a value.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: u32) -> Self {
        self.0.retain(|(known, _)| *known != name);
        self.0.push((name, value));
        self
    }

    /// Returns a value, if it is set.
    pub fn get(&self, name: &str) -> Option<u32> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Returns the values set, in the order in which they were set.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u32)> + '_ {
        self.0.iter().copied()
    }
}

/// Returns one of the values that exceeds its tunable's maximum, with the tunable's name.
pub(crate) fn beyond_max(known: &[Tunable], set: &Tunables) -> Option<(&'static str, u32)> {
    let is_beyond = |&(name, value): &(_, _)| known.iter().any(|t| t.name == name && value > t.max);
    set.iter().find(is_beyond)
}

/// Arguments of `kmem_cache_create`.
#[derive(Debug, Clone)]
pub struct CacheArgs {
    /// Name, as slabinfo shows it.
    pub name: String,
    /// Bytes of an object.
    pub object_size: u32,
    /// Requested alignment in bytes; 0 for the default.
    pub align: u32,
    /// Flags.
    pub flags: SlabFlags,
    /// Bytes that may be copied to user space; a cache with any does not merge.
    pub usersize: u32,
    /// Constructor.
    pub ctor: Option<Ctor>,
    /// Offset of the free pointer inside the object, for a cache that must keep its contents when
    /// free (constructor or type-safe) and has room to spare (Linux 6.12: `freeptr_offset`).
    pub freeptr_offset: Option<u32>,
    /// Sizes to take as they are instead of computing them, where the allocator supports that
    /// ([`BackendKind::takes_geometry`](crate::BackendKind::takes_geometry)).
    pub geometry: Option<Geometry>,
    /// Tunables of this cache.
    pub tunables: Tunables,
}

impl CacheArgs {
    /// Describes a cache of objects of `object_size` bytes with default alignment.
    pub fn new(name: impl Into<String>, object_size: u32) -> Self {
        Self {
            name: name.into(),
            object_size,
            align: 0,
            flags: SlabFlags::NONE,
            usersize: 0,
            ctor: None,
            freeptr_offset: None,
            geometry: None,
            tunables: Tunables::default(),
        }
    }

    /// Sets the alignment.
    #[must_use]
    pub fn align(mut self, align: u32) -> Self {
        self.align = align;
        self
    }

    /// Adds flags.
    #[must_use]
    pub fn flags(mut self, flags: SlabFlags) -> Self {
        self.flags |= flags;
        self
    }

    /// Sets the bytes that may be copied to user space.
    #[must_use]
    pub fn usersize(mut self, bytes: u32) -> Self {
        self.usersize = bytes;
        self
    }

    /// Sets the constructor.
    #[must_use]
    pub fn ctor(mut self, ctor: Ctor) -> Self {
        self.ctor = Some(ctor);
        self
    }

    /// Takes sizes as another kernel reports them.
    #[must_use]
    pub fn geometry(mut self, geometry: Geometry) -> Self {
        self.geometry = Some(geometry);
        self
    }

    /// Sets the tunables. Those that the allocator does not have are ignored; one beyond [`Tunable::max`] is an error.
    #[must_use]
    pub fn tunables(mut self, tunables: Tunables) -> Self {
        self.tunables = tunables;
        self
    }
}
