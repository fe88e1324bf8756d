//! A folder in the cache where a result is made before it gets its name.
//!
//! # How it works
//! It has a random name behind a prefix, is locked (`flock`) by the process that works in it, and is removed when that
//! process ends, unless it was renamed. SIGKILL leaves it; the next process that uses the cache removes those without a
//! lock.
//!
//! # Invariants
//! - A folder that was touched within [`GRACE`] is left alone: its maker may not have locked it yet, or may be on another host
//!   whose locks do not reach this one (NFS).

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

/// Programs that work in such a folder write a file every few seconds.
const GRACE: Duration = Duration::from_secs(60);
/// Where locks do not work, a folder of this age is abandoned.
const DAY: Duration = Duration::from_hours(24);
/// Random characters of a name.
const RANDOM: usize = 6;

/// A folder to work in.
#[derive(Debug)]
pub struct Workplace {
    folder: TempDir,
    /// Held until the folder is gone or has its name.
    _lock: File,
}

impl Workplace {
    /// Makes one in `place`, whose name begins with `prefix`.
    ///
    /// # Errors
    ///
    /// If `place` cannot be written.
    pub fn new(place: &Path, prefix: &str) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        let folder = builder.prefix(prefix).rand_bytes(RANDOM).tempdir_in(place)?;
        let lock = File::open(folder.path())?;
        // On a file system without locks, the age of the folder decides.
        let _ = lock.try_lock();
        Ok(Self { folder, _lock: lock })
    }

    /// Returns where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes the workplaces in `place` that a killed process left, and returns those that are gone. One that cannot be
/// removed does no harm.
pub fn remove_abandoned(place: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let is_workplace = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.and_then(|name| name.strip_prefix(prefix)).is_some_and(|random| {
            random.len() == RANDOM && random.chars().all(|c| c.is_ascii_alphanumeric())
        })
    };
    let found = entries.map(|entry| entry.path()).filter(is_workplace);
    found
        .filter(|path| is_abandoned(path).unwrap_or(false) && fs::remove_dir_all(path).is_ok())
        .collect()
}

fn is_abandoned(folder: &Path) -> io::Result<bool> {
    let found = fs::symlink_metadata(folder)?;
    let age = found.modified()?.elapsed().unwrap_or_default();
    if !found.is_dir() || age < GRACE {
        return Ok(false);
    }
    Ok(match File::open(folder)?.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => age > DAY,
    })
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_one_works_in_is_not() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        let old = |path: &Path| {
            let then = SystemTime::now() - 2 * GRACE;
            File::open(path).unwrap().set_modified(then).unwrap();
        };
        let used = Workplace::new(place.path(), "kapi").unwrap();
        old(used.path());
        for name in ["kapiAbCd12", "kapiNew123", "kapi-AbCd12", "kapiAbCd123"] {
            fs::create_dir(at(name)).unwrap();
            if name != "kapiNew123" {
                old(&at(name));
            }
        }
        assert_eq!(remove_abandoned(place.path(), "kapi"), [at("kapiAbCd12")]);
        assert!(used.path().is_dir());
        let path = used.path().to_owned();
        drop(used);
        assert!(!path.exists());
    }
}
