//! Memory that outlives a machine, for machines that are built one after the other.
//!
//! The operating system hands out memory zeroed, page by page as it is touched. A machine that is built on the memory of
//! the previous one pays for neither, and finds it in the processor's caches.

use super::Machine;
use crate::backend::Backend;
use crate::error::Error;
use crate::raw::arena::Arena;

/// Memory for one machine at a time: [`crate::MachineBuilder::build_in`], [`Machine::into_memory`].
///
/// It comes in huge pages where the operating system has them (`madvise(2)`, `MADV_HUGEPAGE`): a user of many pages takes
/// fewer faults, and the first byte of each 2 MiB commits all of it.
#[derive(Debug)]
pub struct Memory(pub(super) Arena);

impl Memory {
    /// Reserves as [`Memory::reserve`] does, committed in small pages: for machines that touch little of it
    /// ([`crate::Objects::Counted`]).
    ///
    /// # Errors
    /// Returns [`Error::Reserve`] if the operating system refuses.
    pub fn reserve_sparse(bytes: u64) -> Result<Self, Error> {
        Arena::reserve(bytes & !(crate::PAGE_SIZE - 1)).map(Self)
    }

    /// Reserves `bytes` (rounded down to whole pages) of address space, committed as it is touched.
    ///
    /// # Errors
    /// Returns [`Error::Reserve`] if the operating system refuses.
    pub fn reserve(bytes: u64) -> Result<Self, Error> {
        Arena::reserve_huge(bytes & !(crate::PAGE_SIZE - 1)).map(Self)
    }

    /// Returns its size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.len()
    }
}

impl<B: Backend> Machine<B> {
    /// Takes the machine apart and returns its memory, for another machine. Written bytes stay in it, so an object of the
    /// next machine has old bytes unless zeroes are requested, as in a kernel that has run for a while.
    ///
    /// Returns `None` where the memory is not the machine's own to give: a file ([`crate::MemorySource::Mapped`]), or the
    /// caller's.
    #[must_use]
    pub fn into_memory(self) -> Option<Memory> {
        self.core.arena.is_private().then(|| Memory(self.core.arena))
    }
}
