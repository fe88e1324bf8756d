//! What a caller says about a new cache.

use alloc::string::String;
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
    /// Order of a slab (`order`).
    pub order: Order,
}

/// What may be tuned, for a machine or for one cache; `None` keeps the backend's own rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tunables {
    /// SLUB, SLAB: order of every slab. The backend takes a higher one if no object fits.
    pub order: Option<Order>,
    /// SLUB: objects kept in per-CPU partial slabs (`cpu_partial`); 0 turns the lists off.
    pub cpu_partial: Option<u32>,
    /// SLUB: empty slabs kept per node (`min_partial`).
    pub min_partial: Option<u32>,
    /// SLAB: objects in a per-CPU array (`limit`).
    pub limit: Option<u32>,
    /// SLAB: objects moved at a time (`batchcount`).
    pub batch: Option<u32>,
    /// SLAB: shared array size in batches (`sharedfactor`).
    pub shared: Option<u32>,
}

impl Tunables {
    /// Returns these tunables, with `other`'s where these say nothing.
    pub fn or(self, other: Self) -> Self {
        Self {
            order: self.order.or(other.order),
            cpu_partial: self.cpu_partial.or(other.cpu_partial),
            min_partial: self.min_partial.or(other.min_partial),
            limit: self.limit.or(other.limit),
            batch: self.batch.or(other.batch),
            shared: self.shared.or(other.shared),
        }
    }
}

/// Arguments of `kmem_cache_create`.
#[derive(Debug, Clone)]
pub struct CacheArgs {
    /// Name, as slabinfo shows it.
    pub name: String,
    /// Bytes of an object.
    pub object_size: u32,
    /// Alignment asked for, in bytes; 0 for the default.
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
    /// Sizes to take as they are instead of computing them (SLUB, SLAB).
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

    /// Sets the tunables.
    #[must_use]
    pub fn tunables(mut self, tunables: Tunables) -> Self {
        self.tunables = tunables;
        self
    }
}
