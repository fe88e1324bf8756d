//! The simulated machine as modules use it: allocation by address, checks, caches, areas.

pub(crate) mod caches;
mod checked;
pub(crate) mod engine;
pub(crate) mod handle;
mod quarantine;
mod reclaim;
mod told;
mod vmalloc;
mod waiting;
