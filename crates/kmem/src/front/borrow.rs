//! Borrows any CPU for one operation, for threads that hold none.
//!
//! # How it works
//! A claim is one compare-and-swap, a release one store. A thread first tries the CPU that it had
//! last time, so that each thread stays on its own CPU as long as there are enough.

use core::sync::atomic::{AtomicU32, Ordering};

use super::cpu::Cpu;
use crate::backend::Backend;
use crate::cpu::Hooks;
use crate::machine::Machine;
use crate::raw::sync::relax;

/// Spreads threads over CPUs where they cannot remember one.
static NEXT: AtomicU32 = AtomicU32::new(0);

#[cfg(feature = "std")]
std::thread_local! {
    static LAST: core::cell::Cell<u32> = core::cell::Cell::new(NEXT.fetch_add(1, Ordering::Relaxed));
}

fn preferred() -> u32 {
    #[cfg(feature = "std")]
    // A destructor may run after the thread's own state is gone.
    return LAST.try_with(core::cell::Cell::get).unwrap_or(0);
    #[cfg(not(feature = "std"))]
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn remember(cpu: u32) {
    #[cfg(feature = "std")]
    let _ = LAST.try_with(|last| last.set(cpu));
    let _ = cpu;
}

impl<B: Backend> Machine<B> {
    /// Takes a CPU that no thread holds; `None` if every CPU is held.
    pub(crate) fn free_cpu(&self) -> Option<Cpu<'_, B>> {
        let (cpus, first) = (self.cpu_count(), preferred());
        let cpu = (0..cpus).map(|i| (first % cpus + i) % cpus).find(|&cpu| self.claim(cpu))?;
        remember(cpu);
        Some(Cpu::new(self, cpu, Hooks::NONE))
    }

    /// Runs `work` on a CPU that no thread holds; `None` if every CPU is held.
    pub fn with_cpu<R>(&self, work: impl FnOnce(&Cpu<'_, B>) -> R) -> Option<R> {
        // The handle gives the CPU back even if `work` panics.
        self.free_cpu().map(|cpu| work(&cpu))
    }

    /// Runs `work` on a CPU, waiting until one is free.
    pub fn wait_for_cpu<R>(&self, work: impl FnOnce(&Cpu<'_, B>) -> R) -> R {
        let (mut work, mut spins) = (Some(work), 0);
        loop {
            let done = self.with_cpu(|cpu| work.take().map(|work| work(cpu)));
            if let Some(Some(result)) = done {
                return result;
            }
            relax(spins);
            spins += 1;
        }
    }
}
