//! One sheaf: a kmalloc block with a head and the objects behind it.
//!
//! # Invariants
//! The head has four words: the next sheaf of a list; nothing; the cache; the number of objects (stale in a CPU's
//! `main`), with the node of a sheaf that waits in the upper half. That is `struct slab_sheaf` @ 7.3: 32 bytes on 64
//! bits.

use crate::ids::{CacheId, NodeId, ObjPtr};
use crate::raw::arena::Arena;

const HEAD_BYTES: u64 = 32;
const CACHE: u64 = 16;
const SIZE: u64 = 24;

/// Stands in place of the node for a sheaf that goes to no barn.
pub(super) const NO_BARN: NodeId = NodeId(u32::MAX);

/// A sheaf, by its place in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sheaf(ObjPtr);

impl Sheaf {
    /// Makes an empty sheaf of a fresh block.
    pub(super) fn make(arena: &Arena, block: ObjPtr, cache: CacheId) -> Self {
        let sheaf = Self(block);
        arena.store(block.get() + CACHE, u64::from(cache.0));
        sheaf.set_size(arena, 0);
        sheaf
    }

    /// Returns the sheaf in a block that holds one.
    pub(super) fn of(block: ObjPtr) -> Self {
        Self(block)
    }

    /// Returns the sheaf at an offset; 0 stands for none.
    pub(super) fn at(offset: u64) -> Option<Self> {
        ObjPtr::new(offset).map(Self)
    }

    pub(super) fn block(self) -> ObjPtr {
        self.0
    }

    pub(super) fn offset(self) -> u64 {
        self.0.get()
    }

    /// Returns the bytes of a sheaf for `capacity` objects.
    pub(super) fn bytes(capacity: u32) -> u64 {
        HEAD_BYTES + 8 * u64::from(capacity)
    }

    /// Returns how many objects fit in a sheaf of `bytes`.
    pub(super) fn capacity(bytes: u64) -> u32 {
        ((bytes - HEAD_BYTES) / 8) as u32
    }

    /// Returns the sheaf whose first object stands in the word with a number; 0 stands for none.
    pub(super) fn with_first(number: u64) -> Option<Self> {
        Self::at((number * 8).checked_sub(HEAD_BYTES)?)
    }

    /// Returns the number of the word in which its first object stands.
    pub(super) fn first(self) -> u64 {
        (self.offset() + HEAD_BYTES) / 8
    }

    pub(super) fn object(self, arena: &Arena, index: u32) -> ObjPtr {
        let obj = arena.load_numbered(self.first() + u64::from(index));
        ObjPtr::new(obj).expect("sheaves hold objects")
    }

    pub(super) fn set_object(self, arena: &Arena, index: u32, obj: ObjPtr) {
        arena.store_numbered(self.first() + u64::from(index), obj.get());
    }

    pub(super) fn size(self, arena: &Arena) -> u32 {
        arena.load(self.offset() + SIZE) as u32
    }

    /// Sets the number of objects, and forgets the node.
    pub(super) fn set_size(self, arena: &Arena, size: u32) {
        arena.store(self.offset() + SIZE, u64::from(size));
    }

    pub(super) fn node(self, arena: &Arena) -> NodeId {
        NodeId((arena.load(self.offset() + SIZE) >> 32) as u32)
    }

    pub(super) fn set_node(self, arena: &Arena, node: NodeId) {
        let size = u64::from(self.size(arena));
        arena.store(self.offset() + SIZE, size | u64::from(node.0) << 32);
    }

    pub(super) fn cache(self, arena: &Arena) -> CacheId {
        CacheId(arena.load(self.offset() + CACHE) as u32)
    }
}
