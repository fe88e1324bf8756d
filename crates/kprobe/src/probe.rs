//! A probe: an address, its original instruction, and whether it is armed.
//!
//! Linux counterpart: `struct kprobe` @ 6.1. Tables walk from probe to probe, so its size matters to them: ours
//! has those of Linux's members that every architecture has, 80 bytes without links.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The longest instruction of x86, for which a probe's slot has room.
const INSTRUCTION_BYTES_MAX: usize = 16;

/// A function that runs when a probe is hit.
pub type Handler = fn(&Probe);

/// A probe.
#[derive(Debug)]
#[repr(C, align(8))]
pub struct Probe {
    address: u64,
    is_enabled: AtomicBool,
    symbol: Option<Box<str>>,
    missed: AtomicU64,
    before: Option<Handler>,
    after: Option<Handler>,
    instruction: [u8; INSTRUCTION_BYTES_MAX],
    /// Where the copied instruction is.
    slot: u64,
}

const _: () = assert!(size_of::<Probe>() == 80);

impl Probe {
    /// Returns an enabled probe.
    ///
    /// # Panics
    ///
    /// If the address is 0, where there is no code.
    #[must_use]
    pub const fn new(address: u64) -> Self {
        assert!(address != 0, "a probe is at an address");
        Self::placeholder(address)
    }

    /// Returns a probe that is in no table, and may be at address 0.
    pub(crate) const fn placeholder(address: u64) -> Self {
        Self {
            address,
            is_enabled: AtomicBool::new(true),
            symbol: None,
            missed: AtomicU64::new(0),
            before: None,
            after: None,
            instruction: [0; INSTRUCTION_BYTES_MAX],
            slot: 0,
        }
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

    /// Gives the probe a symbol's name.
    #[must_use]
    pub fn with_symbol(self, symbol: &str) -> Self {
        Self { symbol: Some(symbol.into()), ..self }
    }

    /// Gives the probe handlers that run before and after the instruction.
    #[must_use]
    pub const fn with_handlers(mut self, before: Option<Handler>, after: Option<Handler>) -> Self {
        (self.before, self.after) = (before, after);
        self
    }

    /// Gives the probe the instruction it replaces, and where its copy is to be run.
    #[must_use]
    pub const fn with_instruction(mut self, bytes: [u8; INSTRUCTION_BYTES_MAX], slot: u64) -> Self {
        (self.instruction, self.slot) = (bytes, slot);
        self
    }

    /// Returns the instruction that it replaces, and where its copy is.
    #[must_use]
    pub const fn instruction(&self) -> (&[u8], u64) {
        (&self.instruction, self.slot)
    }

    /// Returns the symbol's name.
    #[must_use]
    pub fn symbol(&self) -> Option<&str> {
        self.symbol.as_deref()
    }

    /// Returns how often it was hit while disarmed.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }

    /// Runs the handler before the instruction, then the one after it; counts the hit as missed when disarmed.
    pub fn hit(&self) {
        if !self.is_enabled() {
            self.missed.fetch_add(1, Ordering::Relaxed);
            return;
        }
        for handler in [self.before, self.after].into_iter().flatten() {
            handler(self);
        }
    }

    pub(crate) fn set_enabled(&self, on: bool) {
        self.is_enabled.store(on, Ordering::Relaxed);
    }
}
