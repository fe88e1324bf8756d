//! The XArray behind a small cache for each thread.

use slablab_rcu::Guard;

use crate::raw::cache::Generation;
use crate::{Error, Probe, ProbeTable, Tree};

/// The XArray table with a cache of 64 sets of 4 for each thread. It pays off when few probes are hit
/// often.
#[derive(Debug)]
pub struct CachedTree {
    tree: Tree,
    generation: Generation,
}

impl CachedTree {
    /// Handles a lookup whose guess was wrong. It is a function by itself because a hit needs the
    /// registers.
    #[inline(never)]
    fn find<'g>(&'g self, address: u64, guard: &'g Guard) -> Option<&'g Probe> {
        if Generation::skips() {
            self.tree.lookup(address, guard)
        } else {
            self.find_and_keep(address, guard)
        }
    }

    /// Looks in all ways of the cache. It is a function by itself because lookups without the cache need
    /// the registers.
    #[inline(never)]
    fn find_and_keep<'g>(&'g self, address: u64, guard: &'g Guard) -> Option<&'g Probe> {
        self.generation.find(address, guard, || self.tree.lookup(address, guard))
    }
}

impl ProbeTable for CachedTree {
    const NAME: &'static str = "XArray, cached";

    fn new() -> Self {
        Self { tree: Tree::new(), generation: Generation::new() }
    }

    fn register(&self, probe: Probe) -> Result<(), Error> {
        self.tree.register(probe)
    }

    fn unregister(&self, address: u64) -> bool {
        let Some(removed) = self.tree.probes.remove(address) else {
            return false;
        };
        // This comes before the probe is dropped, which waits for readers: no later section finds it
        // in a cache.
        self.generation.advance();
        drop(removed);
        true
    }

    #[inline]
    fn lookup<'g>(&'g self, address: u64, guard: &'g Guard) -> Option<&'g Probe> {
        match self.generation.guess(address, guard) {
            Some(probe) => Some(probe),
            None => self.find(address, guard),
        }
    }

    fn lookup_range<'g>(&'g self, first: u64, last: u64, guard: &'g Guard) -> Option<&'g Probe> {
        self.tree.lookup_range(first, last, guard)
    }

    fn for_each(&self, guard: &Guard, visit: &mut dyn FnMut(&Probe)) {
        self.tree.for_each(guard, visit);
    }

    fn table_bytes(&self) -> usize {
        self.tree.table_bytes() + crate::raw::cache::BYTES
    }
}
