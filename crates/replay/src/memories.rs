//! The memory of machines that are gone, kept for the machines of the next traces.

use std::sync::{Mutex, PoisonError};

use slablab_kmem::{Error, Memory};

/// Memory that is kept from one replay for the next: [`ReplayPlan::memories`](crate::ReplayPlan::memories).
///
/// There is as much of it as the machines had that existed at once. It stays committed until this
/// is dropped.
#[derive(Debug, Default)]
pub struct Memories(Mutex<Vec<Memory>>);

impl Memories {
    /// Returns memory of `bytes`, kept or new.
    pub(crate) fn take(&self, bytes: u64) -> Result<Memory, Error> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The processor's caches have the one that was given back last.
        match kept.iter().rposition(|memory| memory.bytes() == bytes) {
            Some(place) => Ok(kept.remove(place)),
            None => Memory::reserve(bytes),
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
        let memories = Memories::default();
        let (small, large) = (memories.take(1 << 20).unwrap(), memories.take(1 << 21).unwrap());
        assert_eq!((small.bytes(), large.bytes()), (1 << 20, 1 << 21));
        memories.give(small);
        memories.give(large);
        let small = memories.take(1 << 20).unwrap();
        assert_eq!(small.bytes(), 1 << 20);
        assert_eq!(memories.0.lock().unwrap().len(), 1);
    }
}
