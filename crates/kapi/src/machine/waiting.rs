//! How the machine lets freed blocks wait, and gives them back.
//!
//! How it works: see [`quarantine`](super::quarantine), which has the queue.

use slablab_kmem::Backend;

use super::engine::Engine;
use super::quarantine::{FRACTION, Waiting};
use crate::ledger::Live;
use crate::runtime::lock;

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
