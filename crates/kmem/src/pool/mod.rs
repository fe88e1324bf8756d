//! Objects as Rust values: caches of `T` on a machine of their own.
//!
//! # How it works
//! A [`Pool`] owns a machine and keeps it from the raw interface, which could free what a value lives in.
//! [`Cache`] is a kmem_cache whose objects are `T`s, [`ConstructedCache`] one whose objects keep their contents
//! from use to use; an [`Object`] owns its value and is freed when it is dropped, on any thread. Each operation
//! borrows a CPU while it lasts. A thread with a hot loop holds one ([`Pool::cpu`]) for [`Cache::alloc_on`] and
//! [`Cache::free_on`], which then need no atomic instruction.
//!
//! No operation fails because of other threads: an allocation waits for a CPU, and a free that finds none is
//! left to the next operation of the pool ([`shared`]). A thread that holds a CPU itself never waits.
//!
//! # Invariants
//! - The memory of an `Object<T>` holds a valid `T`, is aligned for it, and belongs to that
//!   object alone.
//! - No code of the user's runs while an operation is under way on a CPU: neither a constructor nor a
//!   destructor. So a thread may use a CPU of its own for any operation.
//!
//! # Lock order
//! The lock of the objects that wait to be freed is a leaf; no CPU is claimed while it is held.

mod cache;
mod out_of_memory;
#[allow(unsafe_code)]
mod raw;
mod shared;

use core::fmt;
use core::marker::PhantomData;

use alloc::string::String;
use alloc::sync::Arc;

pub use self::cache::{Cache, ConstructedCache};
pub use self::out_of_memory::OutOfMemory;
pub use self::raw::Object;
use self::shared::{Settle, Shared};
use crate::backend::{Backend, Slub};
use crate::error::Error;
use crate::front::cpu::Cpu;
use crate::ids::{CacheId, CpuId};
use crate::machine::builder::MachineBuilder;
use crate::stats::{CacheStats, Gauges};

/// A machine for values. Cloning it is cheap and gives the same pool.
#[derive(Debug)]
pub struct Pool<B: Backend = Slub> {
    shared: Arc<Shared<B>>,
}

impl<B: Backend> Clone for Pool<B> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<B: Backend> Pool<B> {
    /// Boots a machine for values.
    ///
    /// # Errors
    /// Fails as [`MachineBuilder::build`] does.
    pub fn new(builder: MachineBuilder<B>) -> Result<Self, Error> {
        Ok(Self { shared: Arc::new(Shared::new(builder.build()?)) })
    }

    /// Takes a CPU for this thread, for hot loops; dropping it gives it back. One that is forgotten
    /// ([`core::mem::forget`]) keeps its CPU: where that was the last one, other threads wait for ever, and after five
    /// seconds say so on standard error.
    ///
    /// # Errors
    /// Returns [`Error::CpuBusy`] if it is in use or does not exist.
    pub fn cpu(&self, id: CpuId) -> Result<PoolCpu<'_, B>, Error> {
        let cpu = self.shared.machine.cpu(id)?;
        self.shared.hold(id.0);
        let shared = &*self.shared;
        Ok(PoolCpu { cpu, _settle: Settle(shared), shared, not_send: PhantomData })
    }

    /// Returns the statistics of a cache.
    pub fn cache_stats(&self, id: CacheId) -> Option<CacheStats> {
        self.shared.settle();
        self.shared.machine.cache_stats(id)
    }

    /// Returns the machine-wide amounts.
    pub fn gauges(&self) -> Gauges {
        self.shared.settle();
        self.shared.machine.gauges()
    }

    /// Returns the text of `/proc/slabinfo`.
    pub fn slabinfo(&self) -> String {
        self.shared.settle();
        self.shared.machine.slabinfo()
    }

    /// Shrinks every cache and gives free memory back to the operating system; returns the bytes. Waits for a
    /// CPU; what CPUs that other threads hold keep for themselves stays.
    pub fn reclaim(&self) -> u64 {
        self.shared.wait_for_cpu().reclaim()
    }
}

/// A CPU of a pool, held by the thread that took it ([`Pool::cpu`]); it cannot be sent to another.
pub struct PoolCpu<'p, B: Backend = Slub> {
    // Fields are dropped in this order: when the CPU is free again, everything that waited for one
    // is done.
    cpu: Cpu<'p, B>,
    _settle: Settle<'p, B>,
    shared: &'p Shared<B>,
    not_send: PhantomData<*const ()>,
}

impl<'p, B: Backend> PoolCpu<'p, B> {
    /// Returns its number.
    pub fn id(&self) -> CpuId {
        self.cpu.id()
    }

    /// Returns the CPU once the objects that waited for one are freed.
    #[inline]
    fn ready(&self) -> &Cpu<'p, B> {
        self.shared.settle_on(&self.cpu);
        &self.cpu
    }
}

impl<B: Backend> Drop for PoolCpu<'_, B> {
    fn drop(&mut self) {
        self.shared.release(self.id().0);
    }
}

impl<B: Backend> fmt::Debug for PoolCpu<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PoolCpu").field(&self.id()).finish()
    }
}

#[cfg(test)]
mod tests;
