//! All CPUs of a machine in the hands of one thread, which plays every CPU in turn.

use alloc::vec::Vec;

use super::cpu::Cpu;
use crate::backend::Backend;
use crate::cpu::Hooks;
use crate::error::Error;
use crate::ids::{CacheId, CpuId, Site};
use crate::machine::Machine;

/// All CPUs of a machine. While it lives, gauges and peaks are exact at every instant.
#[derive(Debug)]
pub struct CpuSet<'m, B: Backend> {
    machine: &'m Machine<B>,
    cpus: Vec<Cpu<'m, B>>,
}

impl<'m, B: Backend> CpuSet<'m, B> {
    pub(super) fn new(machine: &'m Machine<B>) -> Self {
        let cpus = (0..machine.cpu_count()).map(|cpu| Cpu::new(machine, cpu, Hooks::EXACT));
        let cpus = cpus.collect();
        machine.start_exact_totals();
        Self { machine, cpus }
    }

    /// Returns a CPU.
    ///
    /// # Panics
    /// If the machine has no such CPU.
    #[inline(always)]
    pub fn cpu(&self, id: CpuId) -> &Cpu<'m, B> {
        &self.cpus[id.0 as usize]
    }

    /// Returns all CPUs by number.
    pub fn iter(&self) -> impl Iterator<Item = &Cpu<'m, B>> {
        self.cpus.iter()
    }

    /// Gives everything of a cache that can be given back to the page allocator
    /// (`kmem_cache_shrink`).
    pub fn shrink(&self, cache: CacheId) {
        self.cpus.iter().for_each(|cpu| cpu.flush(cache));
        self.machine.backend.shrink(&self.cpus[0].cx, self.machine.slot(cache));
    }

    /// Destroys a cache, or takes one alias off it (`kmem_cache_destroy`).
    ///
    /// # Errors
    /// Returns [`Error::Busy`] if objects are live: the cache stays, and a finding is entered. [`Error::Reading`] inside
    /// [`Cpu::rcu_read`].
    pub fn cache_destroy(&self, cache: CacheId, site: Site) -> Result<(), Error> {
        self.cpus.iter().for_each(|cpu| cpu.flush(cache));
        self.cpus[0].cache_destroy(cache, site)
    }
}
