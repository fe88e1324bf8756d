//! The sub-commands, one a file. Each has `Args` (its options) and `run`.

pub(crate) mod advise;
mod allocators;
pub(crate) mod bench;
pub(crate) mod doctor;
pub(crate) mod export;
mod filter;
mod fleet;
pub(crate) mod generate;
pub(crate) mod import;
pub(crate) mod info;
pub(crate) mod insmod;
pub(crate) mod kernel;
pub(crate) mod lab;
mod outputs;
mod question;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod report;
mod sheets;
mod size;
mod snapshot;
pub(crate) mod stat;
pub(crate) mod top;
mod tunables;
pub(crate) mod whatif;
mod whatif_partition;
mod written;
