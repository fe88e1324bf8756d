//! Kernel source in user space: the C interface behind `include/linux`, and the module host.
//!
//! # How it works
//! [`toolchain`] compiles a module with the system's C compiler against our headers, together with
//! the C runtime (what only C can say: `...`, and what is made of the kernel's own structures), and
//! links it with one jump for every function of [`symbols`]. [`host`] starts the command again as a
//! child, so that a crash or an endless init cannot take the command down. The [`child`] boots a
//! [`slablab_kmem::Machine`], loads the module, points the jumps at the functions in [`abi`], sets
//! parameters, runs init and exit, and reports as it goes: one [`Event`] a line.
//!
//! # Invariants
//! A function is declared in `include/` exactly when `symbols` or the runtime defines it. The module
//! is linked against nothing else, so whatever is missing is an error that names it.
//!
//! # Linux counterpart
//! `kernel/module/`, `kernel/params.c`, `lib/vsprintf.c`, `kernel/printk/` @ 6.1.

#![deny(unsafe_code)]

mod abi;
mod child;
mod context;
mod error;
mod event;
mod format;
pub mod host;
mod image;
mod job;
mod krefs;
mod ledger;
mod log;
mod machine;
mod nodes;
mod order;
mod params;
#[allow(unsafe_code)]
mod raw;
mod runtime;
pub mod steps;
pub mod symbols;
pub mod toolchain;

pub use child::main as child_main;
pub use error::Error;
pub use event::{Block, CacheSeen, Event, FaultKind, Misuse, Origin, Stage};
pub use image::{Image, ModuleInfo};
pub use job::{Job, Version};
