//! The interface of every table.

use std::sync::{Mutex, MutexGuard, PoisonError};

use slablab_rcu::Guard;

use crate::Probe;

/// Why a probe was not registered. The table is unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address has a probe already. Linux makes one aggregate of the two; here that is left to the
    /// caller.
    #[error("address 0x{0:x} has a probe already")]
    Busy(u64),
    /// Memory is out.
    #[error("no memory to register a probe at 0x{0:x}")]
    NoMemory(u64),
}

/// A table from address to probe.
pub trait ProbeTable: Send + Sync {
    /// Its name in reports.
    const NAME: &'static str;

    /// Returns an empty table.
    fn new() -> Self
    where
        Self: Sized;

    /// Adds a probe.
    ///
    /// # Errors
    ///
    /// If the address is taken, or memory is out.
    fn register(&self, probe: Probe) -> Result<(), Error>;

    /// Removes the probe at this address. Returns whether there was one. Readers that found it before may
    /// look at it until their sections end.
    fn unregister(&self, address: u64) -> bool;

    /// Returns the probe at this address. Linux: `get_kprobe`.
    fn lookup<'g>(&'g self, address: u64, guard: &'g Guard) -> Option<&'g Probe>;

    /// Returns a probe between two addresses, both included. Linux looks for one before it optimises a probe or
    /// one nearby (`get_optimized_kprobe`), address by address.
    fn lookup_range<'g>(&'g self, first: u64, last: u64, guard: &'g Guard) -> Option<&'g Probe> {
        (first..=last).find_map(|address| self.lookup(address, guard))
    }

    /// Calls `visit` with every probe, in order of address.
    fn for_each(&self, guard: &Guard, visit: &mut dyn FnMut(&Probe));

    /// Returns the number of probes.
    fn len(&self) -> usize {
        let mut count = 0;
        self.for_each(&slablab_rcu::pin(), &mut |_| count += 1);
        count
    }

    /// Returns whether there are no probes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of the table itself: buckets and links, or nodes, but not the probes.
    fn table_bytes(&self) -> usize;

    /// Arms the probe at this address. Returns whether there is one.
    fn enable(&self, address: u64) -> bool {
        let guard = slablab_rcu::pin();
        self.lookup(address, &guard).inspect(|probe| probe.set_enabled(true)).is_some()
    }

    /// Disarms the probe at this address. Returns whether there is one.
    fn disable(&self, address: u64) -> bool {
        let guard = slablab_rcu::pin();
        self.lookup(address, &guard).inspect(|probe| probe.set_enabled(false)).is_some()
    }
}

/// Takes the lock of a table's writers.
pub(crate) fn lock<T>(writers: &Mutex<T>) -> MutexGuard<'_, T> {
    writers.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `visit` with probes in order of address.
pub(crate) fn visit_in_order(mut probes: Vec<&Probe>, visit: &mut dyn FnMut(&Probe)) {
    probes.sort_unstable_by_key(|probe| probe.address());
    probes.into_iter().for_each(visit);
}

/// Hashes an address; the upper bits are the best. Linux: `hash_ptr`, with the golden ratio of 64 bits.
#[inline]
pub(crate) const fn hash(address: u64) -> u64 {
    address.wrapping_mul(0x61c8_8646_80b5_83eb)
}
