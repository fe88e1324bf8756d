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

use crate::ledger::Live;

/// The part of the machine's memory that may wait is one in this (`QUARANTINE_FRACTION`).
pub(super) const FRACTION: u64 = 32;

#[derive(Debug, Default)]
pub(super) struct Quarantine {
    pub(super) blocks: VecDeque<Waiting>,
    pub(super) bytes: u64,
}

/// A block that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) address: u64,
    pub(super) live: Live,
    /// Where it was freed
    pub(super) site: u64,
}

impl Quarantine {
    /// Takes the oldest.
    pub(super) fn pop(&mut self) -> Option<Waiting> {
        let waiting = self.blocks.pop_front()?;
        self.bytes -= waiting.live.bytes + waiting.live.guard;
        Some(waiting)
    }
}
