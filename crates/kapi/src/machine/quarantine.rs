//! Blocks that are freed and wait, so that what still points at one meets no other (AddressSanitizer).
//!
//! # How it works
//! Freed blocks stand in a queue; the oldest are given to the machine when there are more than a share of its memory. All
//! of them go when memory is short, a cache is destroyed, or the run ends.
//!
//! # Invariants
//! What waits may not be touched, is entered as freed, and is the machine's as if it were allocated.
//!
//! Linux counterpart: `mm/kasan/quarantine.c` @ 6.1.

use std::collections::VecDeque;

use slablab_kmem::Backend;

use super::engine::Engine;
use crate::ledger::Live;
use crate::runtime::lock;

/// Of the machine's memory, one part in so many may wait (`QUARANTINE_FRACTION`).
const FRACTION: u64 = 32;

#[derive(Debug, Default)]
pub(super) struct Quarantine {
    blocks: VecDeque<Waiting>,
    bytes: u64,
}

#[derive(Debug)]
struct Waiting {
    address: u64,
    live: Live,
    site: u64,
}

impl Quarantine {
    fn pop(&mut self) -> Option<Waiting> {
        let waiting = self.blocks.pop_front()?;
        self.bytes -= waiting.live.bytes + waiting.live.guard;
        Some(waiting)
    }
}

impl<B: Backend> Engine<B> {
    /// Lets a block that was freed at `site` wait.
    pub(super) fn quarantine(&self, address: u64, live: &Live, site: u64) {
        let mut quarantine = lock(&self.quarantine);
        quarantine.bytes += live.bytes + live.guard;
        quarantine.blocks.push_back(Waiting { address, live: live.clone(), site });
        let mut oldest = Vec::new();
        while quarantine.bytes > self.memory_bytes / FRACTION {
            oldest.extend(quarantine.pop());
        }
        drop(quarantine);
        self.give_back(oldest);
    }

    /// Gives all that waits to the machine; returns whether anything did.
    pub(crate) fn end_quarantine(&self) -> bool {
        let waiting: Vec<_> = {
            let mut quarantine = lock(&self.quarantine);
            std::iter::from_fn(|| quarantine.pop()).collect()
        };
        let any = !waiting.is_empty();
        self.give_back(waiting);
        any
    }

    fn give_back(&self, waiting: Vec<Waiting>) {
        for Waiting { address, live, site } in waiting {
            self.machine_free(address, &live.source, site);
        }
    }
}
