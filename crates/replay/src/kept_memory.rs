//! The memory of machines that are gone, kept for the machines of the next traces.

use std::sync::{Mutex, PoisonError};

use slablab_kmem::{Error, Memory};

/// Memory that is kept from one replay for the next: [`ReplayPlan::kept_memory`](crate::ReplayPlan::kept_memory).
///
/// There is as much of it as the machines had that existed at once. It stays committed until this
/// is dropped.
#[derive(Debug, Default)]
pub struct KeptMemory(Mutex<Vec<Memory>>);

impl KeptMemory {
    /// Returns memory of `bytes`, kept or new.
    pub(crate) fn take(&self, bytes: u64) -> Result<Memory, Error> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The processor's caches have the one that was given back last.
        match kept.iter().rposition(|memory| memory.bytes() == bytes) {
            Some(place) => Ok(kept.remove(place)),
            None => Memory::reserve_sparse(bytes),
        }
    }

    /// Keeps memory for the next machine.
    pub(crate) fn give(&self, memory: Memory) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_the_same_size_is_used_again() {
        let kept_memory = KeptMemory::default();
        let (small, large) =
            (kept_memory.take(1 << 20).unwrap(), kept_memory.take(1 << 21).unwrap());
        assert_eq!((small.bytes(), large.bytes()), (1 << 20, 1 << 21));
        kept_memory.give(small);
        kept_memory.give(large);
        let small = kept_memory.take(1 << 20).unwrap();
        assert_eq!(small.bytes(), 1 << 20);
        assert_eq!(kept_memory.0.lock().unwrap().len(), 1);
    }
}
