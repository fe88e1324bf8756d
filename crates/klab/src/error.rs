//! What can go wrong with an experiment.

use std::path::PathBuf;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an experiment could not be planned, run or analysed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Building or booting failed.
    #[error(transparent)]
    Vm(#[from] slablab_vm::Error),
    /// A plan that cannot be.
    #[error("{0}")]
    Plan(String),
    /// A raw file that cannot be read or written.
    #[error("{}: {why}", path.display())]
    Raw {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the line where there is one.
        why: String,
    },
    /// Samples that no statistic can be made of.
    #[error("{what}: {source}")]
    Stats {
        /// Which variant and load.
        what: String,
        /// Why.
        source: slablab_stats::Error,
    },
}
