//! A trace as a real kernel and the model can both replay it: every event, in order, on its CPU.
//!
//! [`CompactTrace`] is what the kernel module `slabreplay` reads; [`CompactTrace::model`] does the same events on the
//! simulated machine. The slabs of each cache are read from both at the same moments ([`CacheMoment`]).

pub(crate) mod compact;
pub(crate) mod fidelity;
pub(crate) mod model;
