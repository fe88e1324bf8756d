//! Files that the kernel makes when they are read.

use std::path::Path;

/// Returns whether a path lies on a file system whose files the kernel makes (`/proc`, `/sys`, tracefs, debugfs): reading
/// one may wait for ever, or take something away from another reader.
#[must_use]
pub fn is_made_by_the_kernel(path: &Path) -> bool {
    /// `PROC_SUPER_MAGIC`, `SYSFS_MAGIC`, `TRACEFS_MAGIC` and `DEBUGFS_MAGIC` of `linux/magic.h`.
    const MAGIC: [u64; 4] = [0x9fa0, 0x6265_6572, 0x7472_6163, 0x6462_6720];
    rustix::fs::statfs(path).is_ok_and(|found| MAGIC.contains(&(found.f_type as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_is_made_by_the_kernel_and_a_folder_of_files_is_not() {
        assert!(is_made_by_the_kernel(Path::new("/proc/self")));
        assert!(!is_made_by_the_kernel(tempfile::tempdir().unwrap().path()));
        assert!(!is_made_by_the_kernel(Path::new("/not/there")));
    }
}
