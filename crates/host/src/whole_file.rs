//! A file that is either complete or does not exist.
//!
//! # How it works
//! The file has no name while it is written (`O_TMPFILE`), so that nothing is left behind even when the
//! process is killed. [`WholeFile::persist`] gives it a name beside its path and renames that onto the
//! path. A file system without `O_TMPFILE` gets a hidden name from the beginning.
//!
//! # Invariants
//! - A reader of the path sees the old content or the complete new content.
//! - A device, a pipe or a socket is written to directly, because there is nothing to rename onto.
//!   A symbolic link to one is followed only below `/dev` and `/proc` (`/dev/stdout`): a link that another
//!   user placed in a shared folder must not direct root's output at a device.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use tempfile::NamedTempFile;

/// Who may read a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The users whom the umask allows: mode 0666 less the umask.
    Umask,
    /// Only the owner: mode 0600.
    Private,
}

impl Access {
    fn mode(self) -> u32 {
        match self {
            Access::Umask => 0o666, // the system subtracts the umask
            Access::Private => 0o600,
        }
    }
}

/// A file under construction. When it is dropped before [`WholeFile::persist`], nothing remains of it.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Nameless(File),
    Hidden(NamedTempFile),
    Direct(File),
}

impl WholeFile {
    /// Starts the file that will be at `path`.
    ///
    /// # Errors
    ///
    /// If `path` is a folder, a symbolic link to a device or pipe, or lies in a folder that is missing or
    /// cannot be written.
    pub fn create(path: &Path, access: Access) -> io::Result<WholeFile> {
        let target = match std::fs::metadata(path) {
            Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => {
                refuse_foreign_link(path)?;
                Target::Direct(File::options().write(true).open(path)?)
            }
            _ => Target::beside(path, access)?,
        };
        Ok(WholeFile { path: path.into(), target })
    }

    /// Makes a temporary file without a name; it is gone with its last handle.
    ///
    /// # Errors
    ///
    /// If the folder for temporary files cannot be written.
    pub fn nameless() -> io::Result<WholeFile> {
        Ok(WholeFile { path: PathBuf::new(), target: Target::Direct(tempfile::tempfile()?) })
    }

    /// Returns a handle to write through, and to read a nameless file again.
    ///
    /// # Errors
    ///
    /// If the process has no file descriptor left.
    pub fn file(&self) -> io::Result<File> {
        match &self.target {
            Target::Nameless(file) | Target::Direct(file) => file.try_clone(),
            Target::Hidden(file) => file.as_file().try_clone(),
        }
    }

    /// Puts the file at its path.
    ///
    /// # Errors
    ///
    /// If the path became a folder, or its folder cannot be written any more.
    pub fn persist(self) -> io::Result<()> {
        match self.target {
            Target::Nameless(file) => link(&file, &self.path),
            Target::Hidden(file) => file.persist(&self.path).map(|_| ()).map_err(|e| e.error),
            Target::Direct(_) => Ok(()),
        }
    }
}

/// Writes `bytes` as the complete content of the file at `path`.
///
/// # Errors
///
/// Fails as [`WholeFile::create`] and [`WholeFile::persist`] do, or if writing fails.
pub fn write_whole(path: &Path, bytes: &[u8], access: Access) -> io::Result<()> {
    let whole = WholeFile::create(path, access)?;
    whole.file()?.write_all(bytes)?;
    whole.persist()
}

impl Target {
    fn beside(path: &Path, access: Access) -> io::Result<Target> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match rustix::fs::open(folder_of(path), flags, Mode::from_raw_mode(access.mode())) {
            Ok(file) => Ok(Target::Nameless(file.into())),
            Err(first) => {
                let hidden = hidden(access).tempfile_in(folder_of(path));
                hidden.map(Target::Hidden).map_err(|error| {
                    // The text of this error would name the hidden file, which no user knows.
                    let first = io::Error::from(first);
                    if first.kind() == error.kind() { first } else { error.kind().into() }
                })
            }
        }
    }
}

/// Gives a nameless file the name `path`. A link cannot replace a file, a rename can.
fn link(file: &File, path: &Path) -> io::Result<()> {
    let nameless = format!("/proc/self/fd/{}", file.as_raw_fd());
    // `make_in` does not set the mode of a file that it did not open itself, but this file has its
    // mode already.
    let named = hidden(Access::Umask).make_in(folder_of(path), |beside| {
        rustix::fs::linkat(CWD, &nameless, CWD, beside, AtFlags::SYMLINK_FOLLOW)
            .map_err(io::Error::from)
    })?;
    named.persist(path).map_err(|e| e.error)
}

fn hidden(access: Access) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".slablab-").suffix(".partial");
    builder.permissions(Permissions::from_mode(access.mode()));
    builder
}

/// Fails when `path` is a symbolic link outside `/dev` and `/proc`.
fn refuse_foreign_link(path: &Path) -> io::Result<()> {
    let is_link = std::fs::symlink_metadata(path)?.is_symlink();
    let folder = std::fs::canonicalize(folder_of(path))?;
    if !is_link || folder.starts_with("/dev") || folder.starts_with("/proc") {
        return Ok(());
    }
    let target = std::fs::read_link(path)?;
    Err(io::Error::other(format!(
        "it is a symbolic link to {}, which is not a regular file; name that itself",
        target.display()
    )))
}

/// Returns the folder that `path` is in.
#[must_use]
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_complete_or_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let entries = || std::fs::read_dir(folder.path()).unwrap().count();
        for content in ["first", "second"] {
            let whole = WholeFile::create(&path, Access::Umask).unwrap();
            whole.file().unwrap().write_all(content.as_bytes()).unwrap();
            assert_eq!(entries(), usize::from(content == "second"));
            whole.persist().unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
            assert_eq!(entries(), 1);
        }
        drop(WholeFile::create(&path, Access::Umask).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "second");
    }

    #[test]
    fn a_private_file_is_readable_by_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        for _ in 0..2 {
            write_whole(&path, b"addresses", Access::Private).unwrap();
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_folder_or_a_missing_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let create = |path: &Path| WholeFile::create(path, Access::Umask);
        assert!(create(folder.path()).is_err());
        assert!(create(&folder.path().join("no/out")).is_err());
        create(Path::new("/dev/null")).unwrap().persist().unwrap();
    }

    #[test]
    fn a_link_to_a_device_is_followed_below_dev_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        symlink("/dev/null", &path).unwrap();
        let error = WholeFile::create(&path, Access::Private).unwrap_err().to_string();
        assert!(error.contains("symbolic link to /dev/null"), "{error}");
        assert!(path.is_symlink());
    }

    #[test]
    fn a_link_to_a_file_is_replaced_and_the_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (file, path) = (folder.path().join("file"), folder.path().join("link"));
        std::fs::write(&file, "old").unwrap();
        symlink(&file, &path).unwrap();
        write_whole(&path, b"new", Access::Umask).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
    }
}
