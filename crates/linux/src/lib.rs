//! What Linux kernels are: releases, gfp flags, the names of kmalloc's caches, vectors of accounting, lines of slabinfo, which
//! functions allocate for others, tokens of types, limits.
//!
//! # How it works
//! Each fact stands in one file, with the releases for which it holds. The crate reads no file and no machine: callers bring
//! the texts. It is `no_std`, so that the core of `slablab-kmem` can stand on it.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod accounting;
mod gfp;
mod helper_names;
mod kmalloc;
mod owner;
mod release;
mod slabinfo;
mod token;

pub use accounting::{EntryWords, Recursion, VECTOR_FUNCTIONS, VectorForm, vector_gfp};
pub use gfp::Gfp;
pub use kmalloc::{KmallocCache, KmallocType, is_kmalloc_name, size_name};
pub use owner::{Callers, Helpers, function_of};
pub use release::{Release, Slub};
pub use slabinfo::SlabInfo;
pub use token::{alloc_token, clang_number, type_hash};

/// The most CPUs that Linux can be built for (`NR_CPUS` on x86).
pub const CPUS_MAX: u32 = 8192;

/// The most frames of a call stack that are kept: perf's tools go as deep by default as `kernel.perf_event_max_stack`, 127,
/// and a user may raise that to 640.
pub const STACK_FRAMES_MAX: usize = 1024;
