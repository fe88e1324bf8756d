//! Files that are embedded in the program, unpacked for those that want them by name: a compiler, `patch`, a guest.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::{CacheError, KeyHasher, cache_folder};

/// Returns a folder below the cache folder that holds `files` (path, text), unpacked when it is not there yet.
///
/// The folder's name is `kind` and a hash of all files, so two versions of the tool do not disturb each other.
///
/// # Errors
///
/// When there is no cache folder, or it cannot be written.
pub fn unpacked(kind: &str, files: &[(&str, &str)]) -> Result<PathBuf, CacheError> {
    let mut hasher = KeyHasher::new("embedded files");
    for (name, text) in files {
        hasher.update(name);
        hasher.update(text);
    }
    let root = cache_folder()?;
    let folder = root.join(format!("{kind}-{}", hasher.finish()));
    if !folder.is_dir() {
        let unpack = || -> io::Result<()> {
            // Written beside and renamed: two commands may do it at once, and one may be stopped.
            let beside = tempfile::Builder::new().prefix(kind).tempdir_in(&root)?;
            for (name, text) in files {
                let path = beside.path().join(name);
                fs::create_dir_all(crate::folder_of(&path))?;
                fs::write(&path, text)?;
            }
            match fs::rename(beside.path(), &folder) {
                // Another command was faster.
                Err(_) if folder.is_dir() => Ok(()),
                renamed => renamed,
            }
        };
        unpack().map_err(|source| CacheError::Io { path: folder.clone(), source })?;
    }
    Ok(folder)
}

/// Removes what other versions of the tool unpacked of `kinds`, all but the folders `keep`, and returns what it removed.
///
/// # Errors
///
/// When there is no cache folder, or something in it cannot be removed.
pub fn remove_unpacked(kinds: &[&str], keep: &[PathBuf]) -> Result<Vec<PathBuf>, CacheError> {
    let mut removed = Vec::new();
    for entry in fs::read_dir(cache_folder()?).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let is_unpacked =
            name.to_str().and_then(|name| name.rsplit_once('-')).is_some_and(|(kind, key)| {
                kinds.contains(&kind)
                    && key.len() >= 16
                    && key.chars().all(|c| c.is_ascii_hexdigit())
            });
        if is_unpacked && !keep.contains(&path) {
            fs::remove_dir_all(&path)
                .map_err(|source| CacheError::Io { path: path.clone(), source })?;
            removed.push(path);
        }
    }
    removed.sort();
    Ok(removed)
}
