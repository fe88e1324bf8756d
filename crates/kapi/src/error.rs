//! What keeps a module from running at all. What happens while it runs is an `Event`.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a module could not be built, loaded or started.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder cannot be used.
    #[error("{}: {what}", path.display())]
    Source {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it, and the remedy.
        what: String,
    },
    /// An operation on a file failed.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        error: io::Error,
    },
    /// There is no cache folder for the headers and the compiled runtime that can be trusted.
    #[error(transparent)]
    Cache(#[from] slablab_host::CacheError),
    /// There is no C compiler.
    #[error("{compiler}: {error}; install a C compiler (Debian: gcc) or set CC")]
    NoCompiler {
        /// What was tried.
        compiler: String,
        /// What the operating system says.
        error: io::Error,
    },
    /// A line cannot be read as a step.
    #[error("{step:?}: {what}")]
    Step {
        /// The line.
        step: String,
        /// What is wrong with it.
        what: String,
    },
    /// The compiler refused the module.
    #[error("{}: does not compile\n{message}", path.display())]
    Compile {
        /// The source file.
        path: PathBuf,
        /// The compiler's message.
        message: String,
    },
    /// The linker did not find something.
    #[error("{module}: does not link\n{message}")]
    Link {
        /// The module.
        module: String,
        /// The linker's message, or the symbols that are missing.
        message: String,
    },
    /// The compiled module is not what it should be.
    #[error("{}: {what}", path.display())]
    Image {
        /// The shared object.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A kernel version that cannot be read.
    #[error("kernel version `{text}`: expected A.B or A.B.C, from 2.6.0 to 7.99")]
    Version {
        /// What was given.
        text: String,
    },
    /// The child could not be started or spoken to.
    #[error("the module's process: {0}")]
    Child(String),
}

impl Error {
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |error| Self::Io { path, error }
    }
}
