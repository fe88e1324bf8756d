//! Why a census cannot be.

use std::io;

/// What is lacking for a census.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// BPF refuses, or the kernel's types lack what is needed.
    #[error("a census of slab caches needs root, BPF and BTF: {0}")]
    Bpf(#[from] slablab_bpf::Error),
    /// The kernel does not tell where its caches are.
    #[error(
        "this kernel tells no place of slab caches, neither by a BPF iterator (Linux 6.13 and later) nor in /proc/kallsyms \
         (CONFIG_KALLSYMS_ALL): `slablab info /proc/slabinfo` tells what slabs hold"
    )]
    NoIterator,
    /// Fields that are there have another form.
    #[error("{0} has a form in this kernel that is not known here: a newer slablab is needed")]
    Form(String),
    /// A file of the system cannot be read.
    #[error("{path}: {source}")]
    File {
        /// The file
        path: &'static str,
        /// The system's error
        source: io::Error,
    },
}
