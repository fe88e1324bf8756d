//! The unsafe floor: everything above it is safe Rust.
//!
//! # How it works
//! The memory of a machine is one [`arena`] whose words are atomics, so that reading or writing any
//! offset is defined whatever races; dense tables ([`zeroed`]) come as zeroed, lazily committed
//! memory; [`local`] cells are per-CPU words that one CPU writes and any thread may read; [`lock`]
//! is the spin lock. [`sync`] picks the atomics: `core`'s, or loom's under `--cfg loom`.
//!
//! # Invariants
//! There is no `unsafe` outside this folder and `pool/raw`, except for what `zeroed_struct!` writes, which checks
//! its fields.

pub(crate) mod aligned;
pub(crate) mod arena;
pub(crate) mod local;
pub(crate) mod lock;
pub(crate) mod mapping;
pub(crate) mod sync;
pub(crate) mod vmap;
pub(crate) mod zeroed;
