//! The cache: one folder with all results, under keys.
//!
//! # How it works
//! ```text
//! ROOT/trees/KEY      patched source        key: source, patches
//! ROOT/kernels/KEY    built kernel          key: tree, config, compiler
//! ROOT/modules/KEY    modules of a kernel   key: kernel, module sources
//! ROOT/images/KEY     stock kernel          key: package
//! ROOT/sources/KEY    Debian's source       key: package and its version
//! ROOT/code/KEY       C and makefiles       key: source
//! ROOT/userlands/KEY  programs of a guest   key: architecture
//! ROOT/debian/ARCH    apt's lists (see `archive`)
//! ROOT/.../KEY.HOST.partial   being made on HOST, or left by a run that was stopped: to be continued for a day
//! ROOT/.../KEY.HOST.log       what the programs printed that made it
//! ROOT/.../KEY.lock           held by the process that makes it
//! ```
//!
//! # Invariants
//! - `KEY` appears by a rename of `KEY.HOST.partial`, made whole; everything called `KEY` can be used as it is.
//! - `KEY.HOST.partial` is only touched by the holder of the lock on `KEY.lock` on that host. A second process waits, and
//!   then finds `KEY`.
//! - Several hosts may share the folder by NFS. Where its locks reach other hosts (they do unless it is mounted with
//!   `nolock` or `local_lock`), the second host waits, too. Where they do not, both make it, each in a folder of its own,
//!   and the first to rename wins. A host may not yet see what another one renamed, as it asks the server again only after
//!   a while (`acdirmax`, `nfs(5)`). So it looks again after it made its own folder there, which makes it ask.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use slablab_host::{Interrupt, Key, cache_folder};

use crate::error::{Error, Result};
use crate::run::check;

/// How long the remains of a stopped run wait to be continued, from the beginning of that run.
const LEFT_FOR: Duration = Duration::from_hours(24);

/// The cache folder.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
    /// This host, in letters that fit into a file's name.
    host: String,
}

impl Store {
    /// Returns the store in `root`, which is made when it does not exist, or else in the user's cache
    /// folder.
    ///
    /// # Errors
    ///
    /// If the folder cannot be made, or the user's own cannot be trusted.
    pub fn open(root: Option<&Path>) -> Result<Self> {
        let root = match root {
            Some(root) => root.to_owned(),
            None => cache_folder()?,
        };
        fs::create_dir_all(&root).map_err(Error::io("cannot make the cache folder", &root))?;
        let root = fs::canonicalize(&root).map_err(Error::io("cannot resolve", &root))?;
        let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Ok(Self { root, host: name.replace(|c: char| !c.is_ascii_alphanumeric(), "-") })
    }

    /// Returns the folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the result of this kind and key if it was made before.
    #[must_use]
    pub fn get(&self, kind: &str, key: &Key) -> Option<PathBuf> {
        let path = self.path(kind, key, "");
        path.is_dir().then_some(path)
    }

    /// Returns the result of this kind and key; when it does not exist, `make` makes it in a folder of its
    /// own.
    ///
    /// `make` may find the remains of a stopped run in the folder.
    ///
    /// # Errors
    ///
    /// Fails as `make` does, or if a file cannot be read or written.
    pub(crate) fn get_or_make(
        &self,
        kind: &str,
        key: &Key,
        interrupt: &Interrupt,
        make: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<PathBuf> {
        let whole = self.path(kind, key, "");
        if whole.is_dir() {
            return Ok(whole);
        }
        let folder = self.root.join(kind);
        fs::create_dir_all(&folder).map_err(Error::io("cannot make the folder", &folder))?;
        let lock_path = self.path(kind, key, ".lock");
        let _lock = lock(&lock_path, interrupt)?;
        if whole.is_dir() {
            return Ok(whole);
        }
        self.remove_left(kind);
        let partial = self.path(kind, key, &format!(".{}.partial", self.host));
        fs::create_dir_all(&partial).map_err(Error::io("cannot make the folder", &partial))?;
        if whole.is_dir() {
            let _ = fs::remove_dir_all(&partial);
            return Ok(whole);
        }
        make(&partial)?;
        check(interrupt)?;
        match fs::rename(&partial, &whole) {
            Err(_) if whole.is_dir() => _ = fs::remove_dir_all(&partial),
            renamed => renamed.map_err(Error::io("cannot rename", &partial))?,
        }
        Ok(whole)
    }

    /// Does the same for a result that is used whole or not at all: `make` finds its folder empty, and when it fails
    /// nothing is left.
    pub(crate) fn get_or_make_anew(
        &self,
        kind: &str,
        key: &Key,
        interrupt: &Interrupt,
        make: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<PathBuf> {
        self.get_or_make(kind, key, interrupt, |partial| {
            fs::remove_dir_all(partial).map_err(Error::io("cannot remove", partial))?;
            fs::create_dir(partial).map_err(Error::io("cannot make", partial))?;
            make(partial).inspect_err(|_| drop(fs::remove_dir_all(partial)))
        })
    }

    /// Removes the remains of stopped runs that were never continued. What cannot be removed does no harm.
    fn remove_left(&self, kind: &str) {
        let entries = fs::read_dir(self.root.join(kind)).into_iter().flatten().flatten();
        let partial = entries.map(|entry| entry.path());
        for partial in partial.filter(|path| path.extension().is_some_and(|end| end == "partial")) {
            // NFS locks only files that are open for writing.
            let Ok(lock) = File::options().write(true).open(lock_of(&partial)) else {
                continue;
            };
            let begun = lock.metadata().and_then(|lock| lock.modified());
            let now = SystemTime::now();
            let age = begun.ok().and_then(|begun| now.duration_since(begun).ok());
            if age.is_some_and(|age| age > LEFT_FOR) && lock.try_lock().is_ok() {
                let _ = fs::remove_dir_all(&partial);
                let _ = fs::remove_file(partial.with_extension("log"));
            }
        }
    }

    /// Returns everything of this kind that is whole.
    pub(crate) fn all(&self, kind: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.root.join(kind)).into_iter().flatten().flatten();
        let whole = entries
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_none() && path.is_dir());
        whole.collect()
    }

    /// Fails unless the file system has room for `need_mib` more.
    ///
    /// # Errors
    ///
    /// Returns [`Error::Full`] if it has not.
    pub fn need_space(&self, need_mib: u64) -> Result<()> {
        let stat = rustix::fs::statvfs(&self.root)
            .map_err(|e| Error::io("cannot see the free space", &self.root)(e.into()))?;
        let free_mib = stat.f_bavail.saturating_mul(stat.f_frsize) >> 20;
        if free_mib < need_mib {
            return Err(Error::Full { path: self.root.clone(), free_mib, need_mib });
        }
        Ok(())
    }

    /// Removes everything except `keep`, and returns what was removed. Results that another process is
    /// making stay.
    ///
    /// # Errors
    ///
    /// If something cannot be removed.
    pub fn clean(&self, keep: &[PathBuf]) -> Result<Vec<String>> {
        let mut removed = Vec::new();
        for kind in
            ["trees", "kernels", "modules", "images", "sources", "code", "userlands", "debian"]
        {
            let entries = fs::read_dir(self.root.join(kind)).into_iter().flatten().flatten();
            let mut folders: Vec<_> =
                entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
            folders.sort();
            for folder in folders.into_iter().filter(|folder| !keep.contains(folder)) {
                let lock_path = lock_of(&folder);
                let lock = File::create(&lock_path)
                    .map_err(Error::io("cannot make the lock", &lock_path))?;
                if lock.try_lock().is_err() {
                    continue;
                }
                fs::remove_dir_all(&folder).map_err(Error::io("cannot remove", &folder))?;
                let logs = fs::read_dir(self.root.join(kind)).into_iter().flatten().flatten();
                let logs = logs.map(|entry| entry.path()).filter(|path| {
                    lock_of(path) == lock_path && path.extension().is_some_and(|end| end == "log")
                });
                logs.for_each(|log| _ = fs::remove_file(log));
                removed.push(folder.display().to_string());
            }
        }
        Ok(removed)
    }

    fn path(&self, kind: &str, key: &Key, suffix: &str) -> PathBuf {
        self.root.join(kind).join(format!("{key}{suffix}"))
    }
}

/// Returns the lock of `KEY` or `KEY.anything`.
fn lock_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let key = name.split('.').next().unwrap_or_default();
    path.with_file_name(format!("{key}.lock"))
}

/// Takes the lock on `path`, waiting while another process holds it. It is released when the file is closed.
fn lock(path: &Path, interrupt: &Interrupt) -> Result<File> {
    let file = File::create(path).map_err(Error::io("cannot make the lock", path))?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::WouldBlock) => {
                check(interrupt)?;
                thread::sleep(Duration::from_millis(200));
            }
            Err(fs::TryLockError::Error(e)) => return Err(Error::io("cannot lock", path)(e)),
        }
    }
}

#[cfg(test)]
mod tests {
    use slablab_host::KeyHasher;

    use super::*;

    fn store() -> (tempfile::TempDir, Store, Key) {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(Some(dir.path())).unwrap();
        (dir, store, KeyHasher::new("test").finish())
    }

    #[test]
    fn a_thing_that_failed_half_way_is_not_there() {
        let (_dir, store, key) = store();
        let fail = store.get_or_make("k", &key, &Interrupt::never(), |path| {
            fs::write(path.join("half"), "").unwrap();
            Err(Error::Interrupted)
        });
        assert!(matches!(fail, Err(Error::Interrupted)));
        assert_eq!(store.get("k", &key), None);
        let made = store
            .get_or_make("k", &key, &Interrupt::never(), |path| {
                assert!(path.join("half").exists(), "the next run goes on where this one stopped");
                Ok(())
            })
            .unwrap();
        assert_eq!(store.get("k", &key), Some(made));
    }

    /// Two hosts on an NFS mounted with `nolock` behave as if the other had no lock at all.
    #[test]
    fn of_two_hosts_that_make_the_same_the_first_wins_and_nothing_is_left() {
        let (dir, store, key) = store();
        let other = Store { host: "other".into(), ..store.clone() };
        let made_by = |host: &'static str| {
            move |path: &Path| {
                fs::write(path.join(host), "").map_err(Error::io("cannot write", path))
            }
        };
        let made = store.get_or_make("k", &key, &Interrupt::never(), |path| {
            fs::remove_file(dir.path().join("k").join(format!("{key}.lock"))).unwrap();
            other.get_or_make("k", &key, &Interrupt::never(), made_by("other"))?;
            made_by("own")(path)
        });
        let files: Vec<_> = fs::read_dir(made.unwrap()).unwrap().flatten().collect();
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].file_name(), "other");
        let left = fs::read_dir(dir.path().join("k")).unwrap().flatten();
        let left: Vec<_> =
            left.filter(|e| e.path().extension() == Some("partial".as_ref())).collect();
        assert!(left.is_empty(), "{left:?}");
    }

    #[test]
    fn what_is_there_is_not_made_again() {
        let (_dir, store, key) = store();
        for expected in [1, 1] {
            let path = store
                .get_or_make("k", &key, &Interrupt::never(), |path| {
                    let n = fs::read_dir(path).unwrap().count();
                    fs::write(path.join(n.to_string()), "").unwrap();
                    Ok(())
                })
                .unwrap();
            assert_eq!(fs::read_dir(path).unwrap().count(), expected);
        }
    }

    #[test]
    fn what_nobody_continues_for_a_day_is_removed_when_another_is_made() {
        let (dir, store, key) = store();
        let left = |name: &str, hours: u64| {
            let partial = dir.path().join("k").join(format!("{name}.host.partial"));
            fs::create_dir_all(partial.join("half")).unwrap();
            let lock = File::create(lock_of(&partial)).unwrap();
            lock.set_modified(SystemTime::now() - Duration::from_hours(hours)).unwrap();
            (partial, lock)
        };
        let (old, _) = left("old", 25);
        let (young, _) = left("young", 23);
        let (held, lock) = left("held", 25);
        lock.lock().unwrap();
        store.get_or_make("k", &key, &Interrupt::never(), |_| Ok(())).unwrap();
        assert!(!old.exists() && young.exists() && held.exists());
    }

    #[test]
    fn cleaning_keeps_what_it_is_told_to() {
        let (dir, store, key) = store();
        let kept = store.get_or_make("trees", &key, &Interrupt::never(), |_| Ok(())).unwrap();
        store.get_or_make("kernels", &key, &Interrupt::never(), |_| Ok(())).unwrap();
        let partial = dir.path().join("kernels/x.host.partial");
        fs::create_dir(&partial).unwrap();
        assert_eq!(store.clean(std::slice::from_ref(&kept)).unwrap().len(), 2);
        assert!(kept.is_dir() && !partial.exists() && store.get("kernels", &key).is_none());
    }

    #[test]
    fn a_full_disk_is_said_before_work_begins() {
        let (_dir, store, _) = store();
        let error = store.need_space(u64::MAX >> 1).unwrap_err();
        assert!(matches!(error, Error::Full { .. }), "{error}");
        assert!(error.to_string().contains("--cache"), "{error}");
        store.need_space(0).unwrap();
    }
}
