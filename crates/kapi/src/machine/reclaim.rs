//! Direct reclaim: when memory is out, the module's shrinkers are asked for some, and the allocation is tried
//! again.
//!
//! # How it works
//! An allocation that may sleep and found nothing calls the runtime's `kapi_reclaim` with a priority that falls
//! from 12, a 4096th of what a shrinker could free, to 0, all of it, and tries again after each call that
//! freed something. A round that freed nothing is the last.
//!
//! # Lock order
//! No lock is held while shrinkers run: they call the allocator.
//!
//! # Differences from Linux
//! There are no pages of files or of processes to take, no kswapd, and no killer: OOM notifiers are called, and what
//! stays out is a null pointer.
//!
//! Linux counterpart: `mm/vmscan.c`, `mm/page_alloc.c` (`__alloc_pages_slowpath`) @ 6.1.

use slablab_kmem::{Backend, Cpu, Gfp};

use super::engine::Engine;
use crate::context;
use crate::raw::module;

/// Blocks above `PAGE_ALLOC_COSTLY_ORDER` are not worth a process.
const CHEAP_BYTES_MAX: u64 = 8 * 4096;
/// `DEF_PRIORITY`: where reclaim begins.
const PRIORITY_FIRST: u32 = 12;
/// `MAX_RECLAIM_RETRIES`: rounds over all priorities.
const ROUNDS_MAX: u32 = 16;

impl<B: Backend> Engine<B> {
    /// Allocates `bytes`; where that finds no memory and may sleep, reclaims and tries again.
    #[inline(always)]
    pub(super) fn reclaiming<R>(
        &self,
        gfp: Gfp,
        bytes: u64,
        allocate: impl Fn(&Cpu<'static, B>) -> Option<R>,
    ) -> Option<R> {
        match self.on_cpu(&allocate) {
            None if gfp.has(Gfp::DIRECT_RECLAIM) => self.reclaim(gfp, bytes, allocate),
            result => result,
        }
    }

    #[cold]
    fn reclaim<R>(
        &self,
        gfp: Gfp,
        bytes: u64,
        allocate: impl Fn(&Cpu<'static, B>) -> Option<R>,
    ) -> Option<R> {
        // More than there can ever be is nothing to wait for.
        if bytes == 0 || bytes > self.memory_bytes || gfp.has(Gfp::MEMALLOC) {
            return None;
        }
        context::reclaim(|| {
            let rounds = if gfp.has(Gfp::NORETRY) { 1 } else { ROUNDS_MAX };
            for _ in 0..rounds {
                let mut freed = 0;
                for priority in (0..=PRIORITY_FIRST).rev() {
                    let now = module::reclaim(gfp.0, priority);
                    freed += now;
                    let got = if now > 0 { self.on_cpu(&allocate) } else { None };
                    if got.is_some() {
                        return got;
                    }
                }
                if freed == 0 {
                    break;
                }
            }
            // Where Linux would choose a process to kill, whoever asked for it is told first.
            let gives_up = gfp.has(Gfp::NORETRY) || gfp.has(Gfp::RETRY_MAYFAIL);
            let is_costly = bytes > CHEAP_BYTES_MAX;
            let given = if gives_up || is_costly { 0 } else { module::out_of_memory() };
            if given > 0 { self.on_cpu(&allocate) } else { None }
        })
        .flatten()
    }
}
