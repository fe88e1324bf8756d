//! Real kernels: source, patches, config, build cache, QEMU boot, guest results.
//!
//! # How it works
//! ```text
//! Source (tarball or folder) --+
//! Series (kernel/patches)  ----+--> tree --> KernelBuilder::build --> Kernel --+
//! Config (kernel/config)   ---------------------^                         |
//! Archive (Debian's stock images) ------------------------------> Kernel --+--> Machine::boot --> Boot
//! Initramfs (busybox, hackbench, slablab, modules, kernel/guest/init)  ---+
//! ```
//!
//! All results on the way lie in a [`Store`], under a name that is a hash of all inputs: the same input is
//! never built twice, another input never takes a stale result. A guest gets a job (a shell script) with
//! its initramfs and answers in JSON rows over a channel of its own; its console is read for panics,
//! warnings and lock reports, and any of them fails the boot.
//!
//! # Invariants
//! - A folder in the store without the suffix `.partial` is whole: it was made under another name and renamed.
//! - No child process outlives this one: each runs under `setpriv --pdeathsig`, so that it dies with its
//!   parent however that ends; on a signal the tool ends it itself and reports that.
//! - Times from a guest carry the accelerator under which they were measured.
//!
//! Linux counterpart: none; the nearest relatives are `tools/testing/kunit` and virtme-ng.
#![forbid(unsafe_code)]

mod accel;
mod arch;
mod archive;
mod boot;
mod builder;
mod code;
mod config;
mod console;
mod cpio;
mod data;
mod error;
mod initramfs;
mod kernel;
mod kvm_probe;
mod machine;
mod make;
mod module;
mod qemu;
mod run;
mod source;
mod spec;
mod step;
mod stock;
mod store;
mod tools;
mod tree;

pub use accel::Accel;
pub use arch::Arch;
pub use boot::Boot;
pub use builder::{KernelBuilder, Places};
pub use console::{Trouble, TroubleKind, job_output};
pub use data::Data;
pub use error::{Error, Result};
pub use initramfs::Initramfs;
pub use kernel::Kernel;
pub use kvm_probe::AccelChoice;
pub use machine::Machine;
pub use module::Module;
pub use slablab_host::{Interrupt, Key};
pub use slablab_linux::Release;
pub use source::Source;
pub use spec::{Linux, Origin, Spec};
pub use step::Step;
pub use stock::Stock;
pub use store::Store;
pub use tools::{Need, apt_get_install, install, missing, packages, require};
pub use tree::{Series, patch_path};
