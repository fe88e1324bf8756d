//! The sub-commands, one a file. Each has `Args` (its options) and `run`.

pub(crate) mod advise;
mod allocators;
pub(crate) mod bench;
pub(crate) mod doctor;
pub(crate) mod export;
mod filter;
pub(crate) mod generate;
pub(crate) mod import;
pub(crate) mod info;
pub(crate) mod insmod;
pub(crate) mod kernel;
pub(crate) mod lab;
mod outputs;
pub(crate) mod partition;
mod question;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod report;
mod size;
pub(crate) mod stat;
mod tables;
pub(crate) mod top;
pub(crate) mod traces;
mod tunables;
pub(crate) mod whatif;
mod written;

// The commands that are not moved yet name it so.
use traces as fleet;
