//! The machine on which pages are replayed, and what is asked about it.

use slablab_trace::{Meta, Zones};

/// The machine that slabs are on.
#[derive(Debug, Clone, Copy)]
pub struct RestPlan<'a> {
    /// Zones of another machine to begin with
    pub aged: Option<&'a Zones>,
    /// Memory of a machine whose zones are not told
    pub memory_bytes: u64,
    /// The order of blocks that are asked about
    pub order: Option<u8>,
}

impl RestPlan<'_> {
    /// Returns how many page rows [`rest_of_machine`](super::rest::rest_of_machine) does.
    #[must_use]
    pub fn rows(&self, meta: &Meta, is_changed: bool) -> u64 {
        let rows = meta.pages.as_ref().map_or(0, |pages| pages.events);
        rows.saturating_mul(if is_changed { 3 } else { 2 })
    }
}
