//! An allocation that found no memory, and the free blocks at that moment.

use serde::{Deserialize, Serialize};

/// Orders of the page allocator's blocks: 0 to 10.
const ORDERS: usize = 11;
const PAGE_BYTES: u64 = 4096;

/// Free blocks of the page allocator by order, as in `/proc/buddyinfo`, all zones together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FreeBlocks(pub [u64; ORDERS]);

impl FreeBlocks {
    /// Returns the bytes of all of them.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.iter().zip(0..).map(|(blocks, order)| blocks * (PAGE_BYTES << order)).sum()
    }

    /// Returns the bytes of the largest; 0 if nothing is free.
    #[must_use]
    pub fn largest_bytes(&self) -> u64 {
        let order = self.0.iter().rposition(|blocks| *blocks > 0);
        order.map_or(0, |order| PAGE_BYTES << order)
    }
}

/// An allocation that found no memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Failure {
    /// The row of the trace, counted from 0
    pub event: u64,
    /// Since the first event
    pub time_ns: u64,
    /// The call site
    pub site: String,
    /// The cache; empty for kmalloc
    pub cache: String,
    /// Bytes asked for
    pub requested_bytes: u64,
    /// Bytes in slabs and large blocks then
    pub held_bytes: u64,
    /// Free blocks of the page allocator then
    pub free: FreeBlocks,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_block_is_that_of_the_highest_order() {
        let mut free = FreeBlocks::default();
        assert_eq!((free.bytes(), free.largest_bytes()), (0, 0));
        free.0[0] = 3;
        free.0[2] = 1;
        assert_eq!((free.bytes(), free.largest_bytes()), (7 * 4096, 4 * 4096));
    }
}
