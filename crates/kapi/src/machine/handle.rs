//! What a module holds of a cache, and what it says of one that it wants.

use slablab_kmem::CacheId;

use crate::raw::asan::Asan;
use crate::raw::shared;

/// A `struct kmem_cache`, as the module holds it.
#[derive(Debug)]
pub(crate) struct CacheHandle {
    pub(crate) id: CacheId,
    pub(crate) name: std::ffi::CString,
    /// Bytes the module asked for; the cache's objects may have a guard behind them.
    pub(crate) object_bytes: u32,
    /// Bytes that the module may use of an object once it asks for them (`ksize()`).
    pub(crate) usable_bytes: u32,
    /// Whether what is free keeps its contents: constructed, or looked at by readers of read-copy-update.
    pub(crate) keeps_contents: bool,
    /// Whether readers of read-copy-update look at what is free (`SLAB_TYPESAFE_BY_RCU`).
    pub(crate) is_read_when_free: bool,
    /// Offset in the module of the call that made it.
    pub(crate) site: u64,
}

/// What a new slab's objects are constructed by.
#[derive(Debug)]
pub(super) struct Constructor {
    /// The module's function.
    pub(super) function: usize,
    /// Bytes that it may write, which are forbidden if they were another cache's.
    pub(super) bytes: u64,
    pub(super) asan: Option<Asan>,
}

/// What `struct kmem_cache_args` says of a cache beyond the old arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Bytes that may be copied to user space.
    pub(crate) usersize: u32,
    /// Where the free pointer may lie in an object that keeps its contents.
    pub(crate) freeptr_offset: Option<u32>,
    /// Objects of a sheaf; 0 for the usual number.
    pub(crate) sheaf_capacity: u32,
    /// Whether it is the runtime's, which nobody destroys.
    pub(crate) stays: bool,
    /// The call that makes it.
    pub(crate) site: u64,
}

/// Returns the handle that a module holds.
#[inline(always)]
pub(crate) fn cache_handle(address: u64) -> &'static CacheHandle {
    shared::leaked(address)
}
