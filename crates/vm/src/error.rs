//! The errors between a kernel's source and a guest's results.

use std::io;
use std::path::{Path, PathBuf};

use slablab_host::CacheError;

use crate::console::Trouble;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a kernel could not be built or a guest not be trusted. Each error names a remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("{}: {what}: {source}", path.display())]
    Io {
        /// What was being done to it.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Programs are missing and could not be installed.
    #[error("{programs} not found. {remedy}")]
    Missing {
        /// The programs or files, with commas.
        programs: String,
        /// How to get them.
        remedy: String,
    },
    /// The file system with the cache is full, or nearly.
    #[error(
        "{}: {free_mib} MiB free, {need_mib} MiB needed. \
         Free some space, or name another cache folder with --cache DIR",
        path.display()
    )]
    Full {
        /// The folder.
        path: PathBuf,
        /// The space that is free.
        free_mib: u64,
        /// The space that is needed.
        need_mib: u64,
    },
    /// A folder or file that is not a kernel source.
    #[error("{}: {why}. Name a folder or a tarball of Linux with --source", path.display())]
    Source {
        /// The folder or tarball.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A patch that does not apply.
    #[error(
        "{}: does not apply to {source_name}: {why}. Refresh the patch, or take it out of {named_by}",
        patch.display()
    )]
    Patch {
        /// The patch.
        patch: PathBuf,
        /// What names it: a series file, or the options.
        named_by: String,
        /// The source it was applied to.
        source_name: String,
        /// The first hunk that failed.
        why: String,
    },
    /// A line of a configuration that contradicts another, or that Kconfig did not take.
    #[error("{place}: {why}")]
    Config {
        /// File and line.
        place: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// A program that failed.
    #[error("{program}: {why}. The whole log: {}", log.display())]
    Tool {
        /// The program.
        program: String,
        /// The line that gives the reason.
        why: String,
        /// Its log.
        log: PathBuf,
    },
    /// A guest that crashed, complained, hung or fell silent.
    #[error("guest {guest}: {trouble}. {}The whole console: {}", indented(last), console.display())]
    Guest {
        /// Which kernel, how many CPUs.
        guest: String,
        /// What went wrong.
        trouble: Trouble,
        /// The last lines of its console before it went down.
        last: Vec<String>,
        /// The console's text.
        console: PathBuf,
    },
    /// A guest whose results do not parse.
    #[error("guest {guest}: {why}. Its results: {}", results.display())]
    Results {
        /// Which kernel, how many CPUs.
        guest: String,
        /// What is wrong.
        why: String,
        /// The text it sent.
        results: PathBuf,
    },
    /// There is no cache folder that can be trusted.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// Ctrl-C or another request to end.
    #[error("interrupted; whatever was whole is kept, run the same command again to go on")]
    Interrupted,
}

/// Returns lines that stand by themselves below a message, or an empty text where there are none.
fn indented(lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    format!("The last lines of its console:\n  {}\n", lines.join("\n  "))
}

impl Error {
    /// Wraps the system's error about `path`.
    pub(crate) fn io(what: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::Io { what, path, source }
    }
}
