//! The user's cache folder. Files that are built there are run later, so only this user may write
//! to it.
//!
//! # How it works
//! It is `$XDG_CACHE_HOME/slablab` or `~/.cache/slablab` (XDG Base Directory Specification 0.8), with the
//! home folder from the password database when `HOME` is unset. It is made with mode 0700. An existing
//! folder is used when this user owns it and no other user can write to it; others' permission to read it
//! is removed.
//!
//! # Invariants
//! - A folder that several users share, such as `/tmp`, is never chosen unasked.
//! - When root runs the tool with another user's `HOME` (`sudo -E`), that user's folder is refused:
//!   root would run what the user put there.

use std::env;
use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Why no cache folder can be trusted. Each error names a remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// Neither the environment nor the password database names a home folder.
    #[error(
        "there is no folder for the cache: HOME and XDG_CACHE_HOME are unset and this user has no home \
         folder; set XDG_CACHE_HOME to a folder that only this user can write to"
    )]
    NoHome,
    /// The folder cannot be made or examined.
    #[error(
        "{}: cannot use it as the cache folder: {source}; set XDG_CACHE_HOME to a folder that this user can write to",
        path.display()
    )]
    Io {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another user could put files there.
    #[error(
        "{}: {why}, so its content cannot be trusted; remove it, or set XDG_CACHE_HOME to a folder that \
         only this user can write to",
        path.display()
    )]
    NotPrivate {
        /// The folder.
        path: PathBuf,
        /// What is wrong with its owner or mode.
        why: String,
    },
}

/// Returns the cache folder of this user, made when it is not there.
///
/// # Errors
///
/// If no folder can be found or made, or another user can write to it.
pub fn cache_folder() -> Result<PathBuf, CacheError> {
    let absolute = |path: PathBuf| Some(path).filter(|path| path.is_absolute());
    let xdg = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).and_then(absolute);
    let home = || env::home_dir().and_then(absolute).map(|home| home.join(".cache"));
    let path = xdg.or_else(home).ok_or(CacheError::NoHome)?.join("slablab");
    private_folder(&path)?;
    Ok(path)
}

/// Makes `path` a folder that only this user can enter, or checks that it is one.
///
/// # Errors
///
/// If it cannot be made, or another user owns it, can write to it, or can replace it.
pub fn private_folder(path: &Path) -> Result<(), CacheError> {
    let failed = |source| CacheError::Io { path: path.into(), source };
    let refused = |why: String| Err(CacheError::NotPrivate { path: path.into(), why });
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
    let own = rustix::process::geteuid().as_raw();
    // The link itself is checked too, since its owner can redirect it.
    for found in [fs::symlink_metadata(path), fs::metadata(path)] {
        let owner = found.map_err(failed)?.uid();
        if owner != own {
            return refused(format!("it belongs to user {owner} and this is user {own}"));
        }
    }
    let found = fs::metadata(path).map_err(failed)?;
    if found.mode() & 0o022 != 0 {
        return refused(format!("others can write to it (mode {:04o})", found.mode() & 0o7777));
    }
    let parent = fs::metadata(crate::folder_of(path)).map_err(failed)?;
    if can_replace_entries(&parent, own) {
        return refused(
            "others can replace it, because they can write to the folder it is in".into(),
        );
    }
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(failed)?;
    }
    Ok(())
}

/// Returns whether a user besides `own` and root can rename entries of this folder that belong to others.
fn can_replace_entries(folder: &Metadata, own: u32) -> bool {
    let foreign = folder.uid() != own && folder.uid() != 0;
    let sticky = folder.mode() & 0o1000 != 0;
    foreign || (folder.mode() & 0o022 != 0 && !sticky)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_folder_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b");
        private_folder(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        private_folder(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("open");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o777)).unwrap();
        let error = private_folder(&path).unwrap_err().to_string();
        assert!(error.contains("others can write to it (mode 0777)"), "{error}");
        let inner = path.join("inner");
        fs::create_dir(&inner).unwrap();
        let error = private_folder(&inner).unwrap_err().to_string();
        assert!(error.contains("others can replace it"), "{error}");
        fs::set_permissions(&path, Permissions::from_mode(0o1777)).unwrap();
        private_folder(&inner).unwrap();
    }

    #[test]
    fn a_folder_that_another_user_prepared_is_refused() {
        if !rustix::process::geteuid().is_root() {
            return; // only root can give a folder to somebody else
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("prepared");
        fs::create_dir(&path).unwrap();
        std::os::unix::fs::chown(&path, Some(65534), None).unwrap();
        let error = private_folder(&path).unwrap_err().to_string();
        assert!(error.contains("belongs to user 65534 and this is user 0"), "{error}");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(private_folder(&link).is_err());
    }
}
