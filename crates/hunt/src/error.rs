//! Why a hunt cannot be.

/// What is lacking for a hunt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// BPF refuses.
    #[error(transparent)]
    Bpf(#[from] slablab_bpf::Error),
    /// A tracepoint of another form.
    #[error(
        "the tracepoint {name} of this kernel has no argument of type {argument}: Linux 6.1 or later is needed"
    )]
    Tracepoint {
        /// Its name
        name: String,
        /// What is missing
        argument: String,
    },
}
