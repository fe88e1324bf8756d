//! Files that are embedded in the program, unpacked for programs that need them by name: a compiler, `patch`, a
//! guest.
//!
//! # How it works
//! They are unpacked once, into a folder whose name is their hash. Each use compares them with the embedded files, which
//! takes a millisecond, and writes those anew that differ. A full disk or a loss of power may leave files that exist but
//! are empty.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::{
    Access, CacheError, KeyHasher, Workplace, cache_folder, remove_abandoned, write_whole,
};

/// Returns a folder below the cache folder that holds `files` (path, text), unpacked when it is not there yet.
///
/// The folder's name is `kind` and a hash of all files, so two versions of the tool do not disturb each other.
///
/// # Errors
///
/// If there is no cache folder, or it cannot be written.
pub fn unpacked(kind: &str, files: &[(&str, &str)]) -> Result<PathBuf, CacheError> {
    unpacked_in(&cache_folder()?, kind, files)
}

/// Does the same below `root`.
///
/// # Errors
///
/// If it cannot be written.
pub fn unpacked_in(root: &Path, kind: &str, files: &[(&str, &str)]) -> Result<PathBuf, CacheError> {
    let folder = folder_in(root, kind, files);
    remove_abandoned(root, kind);
    let there =
        if folder.is_dir() { mend(&folder, files) } else { unpack(root, kind, files, &folder) };
    there.map_err(|source| CacheError::Io { path: folder.clone(), source })?;
    Ok(folder)
}

/// Returns whether they were unpacked before.
///
/// # Errors
///
/// If there is no cache folder that can be trusted.
pub fn is_unpacked(kind: &str, files: &[(&str, &str)]) -> Result<bool, CacheError> {
    Ok(folder_in(&cache_folder()?, kind, files).is_dir())
}

/// Returns the folder below `root` that has these files, or will have them.
fn folder_in(root: &Path, kind: &str, files: &[(&str, &str)]) -> PathBuf {
    let mut hasher = KeyHasher::new("embedded files");
    for (name, text) in files {
        hasher.update(name);
        hasher.update(text);
    }
    root.join(format!("{kind}-{}", hasher.finish()))
}

fn unpack(root: &Path, kind: &str, files: &[(&str, &str)], folder: &Path) -> io::Result<()> {
    // The files are written beside and renamed, because two commands may do this at once, and one
    // may be stopped.
    let beside = Workplace::new(root, kind)?;
    for (name, text) in files {
        let path = beside.path().join(name);
        fs::create_dir_all(crate::folder_of(&path))?;
        fs::write(&path, text)?;
    }
    match fs::rename(beside.path(), folder) {
        // Another command was faster.
        Err(_) if folder.is_dir() => Ok(()),
        renamed => renamed,
    }
}

/// Writes those of `files` anew whose content differs.
fn mend(folder: &Path, files: &[(&str, &str)]) -> io::Result<()> {
    for (name, text) in files {
        let path = folder.join(name);
        if !fs::read(&path).is_ok_and(|found| found == text.as_bytes()) {
            fs::create_dir_all(crate::folder_of(&path))?;
            write_whole(&path, text.as_bytes(), Access::Umask)?;
        }
    }
    Ok(())
}

/// Removes what other versions of the tool unpacked of `kinds`, except the folders `keep`, and returns what it removed.
///
/// # Errors
///
/// If there is no cache folder, or something in it cannot be removed.
pub fn remove_unpacked(kinds: &[&str], keep: &[PathBuf]) -> Result<Vec<PathBuf>, CacheError> {
    remove_unpacked_in(&cache_folder()?, kinds, keep)
}

fn remove_unpacked_in(
    root: &Path,
    kinds: &[&str],
    keep: &[PathBuf],
) -> Result<Vec<PathBuf>, CacheError> {
    let mut removed: Vec<PathBuf> =
        kinds.iter().flat_map(|kind| remove_abandoned(root, kind)).collect();
    for entry in fs::read_dir(root).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let is_unpacked =
            name.to_str().and_then(|name| name.rsplit_once('-')).is_some_and(|(kind, key)| {
                kinds.contains(&kind)
                    && key.len() >= 16
                    && key.chars().all(|c| c.is_ascii_hexdigit())
            });
        if is_unpacked && !keep.contains(&path) {
            match fs::remove_dir_all(&path) {
                Ok(()) => removed.push(path),
                // Another version runs at this moment, and writes into it or removes it.
                Err(error)
                    if [ErrorKind::DirectoryNotEmpty, ErrorKind::NotFound]
                        .contains(&error.kind()) => {}
                Err(source) => return Err(CacheError::Io { path, source }),
            }
        }
    }
    removed.sort();
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_folder_that_another_version_writes_into_is_left_to_it() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("kapi-0123456789abcdef");
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    _ = fs::create_dir(&folder);
                    (0..20).for_each(|file| _ = fs::write(folder.join(file.to_string()), ""));
                }
            });
            let results: Vec<_> =
                (0..200).map(|_| remove_unpacked_in(root.path(), &["kapi"], &[])).collect();
            is_over.store(true, Ordering::Relaxed);
            results.into_iter().for_each(|result| _ = result.unwrap());
        });
    }

    #[test]
    fn a_file_that_was_emptied_is_written_anew() {
        let root = tempfile::tempdir().unwrap();
        let files = [("include/a.h", "one"), ("b.c", "two")];
        let unpacked = || unpacked_in(root.path(), "kapi", &files).unwrap();
        let folder = unpacked();
        fs::write(folder.join("object.o"), "made here").unwrap();
        for damage in ["", "on", "owe"] {
            fs::write(folder.join("include/a.h"), damage).unwrap();
            fs::remove_file(folder.join("b.c")).unwrap();
            assert_eq!(unpacked(), folder);
            for (name, text) in files {
                assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), text);
            }
        }
        assert_eq!(fs::read_to_string(folder.join("object.o")).unwrap(), "made here");
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }
}
