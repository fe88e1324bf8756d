//! A file that is either whole or not there.
//!
//! How it works: the file has no name at all while it is written (`O_TMPFILE`), so that nothing is
//! left behind even when the process is killed; at the end it gets a name beside its path and is
//! renamed onto it. File systems that cannot do that get a hidden name from the beginning.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use tempfile::NamedTempFile;

use crate::Error;

/// A file under construction. Dropped before [`Output::persist`], it is gone.
#[derive(Debug)]
pub(crate) struct Output {
    path: PathBuf,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Nameless(File),
    Hidden(NamedTempFile),
    /// A pipe or device (`/dev/null`): there is nothing to rename onto.
    Direct(File),
}

impl Output {
    pub(crate) fn create(path: &Path) -> Result<Output, Error> {
        let failed = |e| Error::io(path, "cannot write", e);
        let target = match std::fs::metadata(path) {
            Ok(at) if at.is_dir() => {
                return Err(failed(std::io::ErrorKind::IsADirectory.into()));
            }
            Ok(at) if !at.is_file() => {
                Target::Direct(File::options().write(true).open(path).map_err(failed)?)
            }
            _ => Target::beside(path).map_err(failed)?,
        };
        Ok(Output { path: path.into(), target })
    }

    /// Makes a file that stays without a name and is gone with its last handle; `path` is what
    /// errors name.
    pub(crate) fn nameless(path: &Path) -> Result<Output, Error> {
        let file = tempfile::tempfile();
        let file = file.map_err(|e| Error::io(path, "cannot make a temporary file for", e))?;
        Ok(Output { path: path.into(), target: Target::Direct(file) })
    }

    /// Returns a handle to write through, and to read again what is nameless.
    pub(crate) fn file(&self) -> Result<File, Error> {
        let file = match &self.target {
            Target::Nameless(file) | Target::Direct(file) => file.try_clone(),
            Target::Hidden(file) => file.as_file().try_clone(),
        };
        file.map_err(|e| Error::io(&self.path, "cannot write", e))
    }

    /// Puts the file at its path.
    pub(crate) fn persist(self) -> Result<(), Error> {
        let named = match self.target {
            Target::Nameless(file) => link(&file, &self.path),
            Target::Hidden(file) => file.persist(&self.path).map(|_| ()).map_err(|e| e.error),
            Target::Direct(_) => Ok(()),
        };
        named.map_err(|e| Error::io(&self.path, "cannot rename into place", e))
    }
}

impl Target {
    fn beside(path: &Path) -> std::io::Result<Target> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        match rustix::fs::open(directory(path), flags, Mode::from_raw_mode(0o666)) {
            Ok(file) => Ok(Target::Nameless(file.into())),
            // The kind of error says it all; the name that was tried nobody has heard of.
            Err(_) => hidden()
                .tempfile_in(directory(path))
                .map(Target::Hidden)
                .map_err(|error| error.kind().into()),
        }
    }
}

/// Gives a nameless file the name `path`. A link cannot replace a file, a rename can.
fn link(file: &File, path: &Path) -> std::io::Result<()> {
    let nameless = format!("/proc/self/fd/{}", file.as_raw_fd());
    let named = hidden().make_in(directory(path), |beside| {
        rustix::fs::linkat(CWD, &nameless, CWD, beside, AtFlags::SYMLINK_FOLLOW)
            .map_err(std::io::Error::from)
    })?;
    named.persist(path).map_err(|e| e.error)
}

fn hidden() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".slablab-").suffix(".partial");
    builder.permissions(std::fs::Permissions::from_mode(0o666)); // the umask takes its share
    builder
}

/// Returns the directory that `path` is in.
pub(crate) fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_is_whole_or_not_there() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out");
        let entries = || std::fs::read_dir(directory.path()).unwrap().count();
        for content in ["first", "second"] {
            let output = Output::create(&path).unwrap();
            output.file().unwrap().write_all(content.as_bytes()).unwrap();
            assert_eq!(entries(), usize::from(content == "second"));
            output.persist().unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
            assert_eq!(entries(), 1);
        }
        drop(Output::create(&path).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "second");
    }

    #[test]
    fn a_directory_or_a_missing_one_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        assert!(Output::create(directory.path()).is_err());
        assert!(Output::create(&directory.path().join("no/out")).is_err());
        Output::create(Path::new("/dev/null")).unwrap().persist().unwrap();
    }
}
