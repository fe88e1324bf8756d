//! Real kernels in QEMU: what the experiments of the kernel engine share.
//!
//! # How it works
//! A [`Recipe`] is data: variants (a kernel and its boot parameters) and loads (shell snippets that send rows).
//! [`prepare`] builds the kernels; then each cell is one boot of one variant, which goes through all loads in random
//! order and gives a [`Part`](crate::Part) for every row that the guest sends. Kernels are kept in the store, output
//! of guests in the result folder.
//!
//! # Invariants
//! A row has the accelerator and the kernel that it came from. A boot in trouble gives no row at all.
//!
//! Linux counterpart: none; mmtests and lkp-tests are the relatives that run on bare metal.

mod boots;
mod options;
mod profile;
mod recipe;
mod recording;
mod replayer;

pub(crate) use boots::prepare;
pub(crate) use options::{CPUS, KERNEL, Options, cpus};
pub use options::{PARAMETERS, places};
pub use profile::{STACKS, fold, profiled_job};
pub(crate) use recipe::{Load, Recipe, Variant, by_cpus};
pub(crate) use recording::Recorder;
pub use recording::{add_slabinfo, from_boot_arguments, from_boot_job, from_boot_memory_mib};
pub(crate) use replayer::{Replayer, trace_for};
