//! A probe: an address and whether it is armed.

use std::sync::atomic::{AtomicBool, Ordering};

/// A probe, as far as the tables care.
#[derive(Debug)]
#[repr(align(8))]
pub struct Probe {
    address: u64,
    is_enabled: AtomicBool,
}

impl Probe {
    /// Returns an enabled probe.
    ///
    /// # Panics
    ///
    /// If the address is 0, where no code is.
    #[must_use]
    pub const fn new(address: u64) -> Self {
        assert!(address != 0, "a probe is at an address");
        Self { address, is_enabled: AtomicBool::new(true) }
    }

    /// Returns the address of the instruction that it replaces.
    #[must_use]
    pub const fn address(&self) -> u64 {
        self.address
    }

    /// Returns whether its handler runs.
    #[must_use]
    pub fn is_enabled(&self) -> bool {
        self.is_enabled.load(Ordering::Relaxed)
    }

    pub(crate) fn set_enabled(&self, on: bool) {
        self.is_enabled.store(on, Ordering::Relaxed);
    }
}
