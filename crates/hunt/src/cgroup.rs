//! The folder of a memory cgroup, by its number.
//!
//! How it works: a cgroup's number is that of its folder's inode, in version 1 as in 2. The tree that has the memory controller
//! is walked until the number is found.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Folders that are looked at.
const FOLDERS_MAX: usize = 20_000;

/// Returns the path of a cgroup below its mount; `None` where it is gone or cannot be seen from here.
#[must_use]
pub fn cgroup_name(id: u64) -> Option<String> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    mounts.lines().filter_map(memory_mount).find_map(|mount| find(&mount, id))
}

/// Returns where a line of mounts puts a tree that may have the memory controller.
fn memory_mount(line: &str) -> Option<PathBuf> {
    let mut words = line.split(' ').skip(1);
    let (at, kind, options) = (words.next()?, words.next()?, words.next()?);
    let is_memory =
        kind == "cgroup2" || kind == "cgroup" && options.split(',').any(|o| o == "memory");
    is_memory.then(|| PathBuf::from(at))
}

fn find(mount: &Path, id: u64) -> Option<String> {
    let mut left = vec![mount.to_owned()];
    for _ in 0..FOLDERS_MAX {
        let folder = left.pop()?;
        if fs::metadata(&folder).is_ok_and(|folder| folder.ino() == id) {
            let below = folder.strip_prefix(mount).ok()?;
            return Some(format!("/{}", below.display()));
        }
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        left.extend(folders.map(|entry| entry.path()));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_of_both_versions_are_found() {
        let v1 = "cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0";
        let v2 = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0";
        let cpu = "cgroup /sys/fs/cgroup/cpu cgroup rw,relatime,cpu 0 0";
        assert_eq!(memory_mount(v1), Some("/sys/fs/cgroup/memory".into()));
        assert_eq!(memory_mount(v2), Some("/sys/fs/cgroup".into()));
        assert_eq!((memory_mount(cpu), memory_mount("")), (None, None));
    }

    #[test]
    fn a_folder_is_found_by_its_number() {
        let folder = std::env::temp_dir();
        let id = fs::metadata(&folder).unwrap().ino();
        assert_eq!(find(&folder, id).as_deref(), Some("/"));
        assert_eq!(find(&folder.join("does not exist"), id), None);
    }
}
