//! Lists of blocks of memory, linked through the first word of each.

use crate::ids::ObjPtr;
use crate::raw::arena::Arena;
use crate::raw::zeroed::zeroed_struct;

zeroed_struct! {
    /// Blocks linked one behind the other, the newest last. The owner of the list owns the first words of its
    /// blocks.
    #[derive(Debug, Clone, Copy, Default)]
    pub(crate) struct BlockList {
        first: u64,
        len: u32,
    }
}

impl BlockList {
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    pub(crate) fn push(&mut self, arena: &Arena, block: ObjPtr) {
        arena.store(block.get(), self.first);
        self.first = block.get();
        self.len += 1;
    }

    pub(crate) fn pop(&mut self, arena: &Arena) -> Option<ObjPtr> {
        let block = ObjPtr::new(self.first)?;
        self.first = arena.load(block.get());
        self.len -= 1;
        Some(block)
    }

    /// Visits the blocks from first to last.
    pub(crate) fn iter<'a>(&self, arena: &'a Arena) -> impl Iterator<Item = ObjPtr> + use<'a> {
        let first = ObjPtr::new(self.first);
        core::iter::successors(first, |block| ObjPtr::new(arena.load(block.get())))
    }
}
