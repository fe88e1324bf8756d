//! The numbers that a runner keeps for each call site.

use crate::metrics::locality::Steps;

/// The costs of a call site's objects under this allocator.
#[derive(Debug, Clone, Default)]
pub(super) struct SiteAccount {
    pub(super) waste: u64,
    pub(super) waste_peak: u64,
    pub(super) bytes_alloc: u64,
    pub(super) steps: Steps,
    /// Operations on the slow path, if they are counted.
    pub(super) slow_operations: u64,
}
