//! A file that is either whole or not there: written beside its path and renamed onto it at the end.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::Error;

/// A file under construction. Dropped before [`Output::persist`], it is removed.
#[derive(Debug)]
pub(crate) struct Output {
    path: PathBuf,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Beside(NamedTempFile),
    /// A pipe or device (`/dev/null`): there is nothing to rename onto.
    Direct(File),
}

impl Output {
    pub(crate) fn create(path: &Path) -> Result<Output, Error> {
        let target = match std::fs::metadata(path) {
            Ok(at) if at.is_dir() => {
                let error = std::io::Error::from(std::io::ErrorKind::IsADirectory);
                return Err(Error::io(path, "cannot write", error));
            }
            Ok(at) if !at.is_file() => {
                let file = File::options().write(true).open(path);
                Target::Direct(file.map_err(|e| Error::io(path, "cannot write", e))?)
            }
            _ => Target::Beside(beside(path)?),
        };
        Ok(Output { path: path.into(), target })
    }

    /// Returns a handle to write through.
    pub(crate) fn file(&self) -> Result<File, Error> {
        let file = match &self.target {
            Target::Beside(temporary) => temporary.as_file().try_clone(),
            Target::Direct(file) => file.try_clone(),
        };
        file.map_err(|e| Error::io(&self.path, "cannot write", e))
    }

    /// Puts the file at its path.
    pub(crate) fn persist(self) -> Result<(), Error> {
        match self.target {
            Target::Beside(temporary) => temporary
                .persist(&self.path)
                .map(|_| ())
                .map_err(|e| Error::io(&self.path, "cannot rename into place", e.error)),
            Target::Direct(_) => Ok(()),
        }
    }
}

fn beside(path: &Path) -> Result<NamedTempFile, Error> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    tempfile::Builder::new()
        .prefix(".slablab-")
        .suffix(".partial")
        .permissions(std::fs::Permissions::from_mode(0o666)) // the umask takes its share
        .tempfile_in(directory)
        .map_err(|e| Error::io(path, "cannot write", e))
}
