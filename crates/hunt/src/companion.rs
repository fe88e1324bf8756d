//! Objects that belong to an inode or to the stack of a thread: how many there are follows from those.
//!
//! # How it works
//! Some functions make an object that goes when its inode goes, and the kernel gives inodes back when memory is short. Their
//! caches do not tell that: they are often merged with others. The stacks of threads are used again by later threads, so that
//! one may live for as long as threads come; there are no more of them than threads, but for two on each CPU.
//!
//! Linux counterpart: `locks_get_lock_context` in `fs/locks.c`, `posix_acl_alloc` in `fs/posix_acl.c`, `ima_inode_get`,
//! `integrity_inode_get` in `security/integrity`, `fsverity_create_info`, `fscrypt_setup_encryption_info`;
//! `alloc_thread_stack_node` in `kernel/fork.c` @ 6.1 to 7.3.

use std::fs;

use slablab_linux::function_of;

/// What makes an object that is freed with its inode.
const OF_INODES: [&str; 8] = [
    "fscrypt_setup_encryption_info",
    "fsverity_create_info",
    "ima_inode_get",
    "integrity_inode_get",
    "locks_get_lock_context",
    "posix_acl_alloc",
    "posix_acl_clone",
    "posix_acl_from_xattr",
];
/// What makes threads, and what it takes their stacks from.
const THREADS: &str = "copy_process";
const VMALLOC: [&str; 2] = ["__vmalloc", "__get_vm_area"];

/// What an object belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Companion {
    /// An inode
    Inode,
    /// The stack of a thread
    ThreadStack,
}

impl Companion {
    /// Finds out what the objects of a call stack belong to: `frames` are all, and `owner` is the place of the owner.
    pub(crate) fn of(frames: &[String], owner: usize) -> Option<Self> {
        let function = function_of(frames.get(owner)?);
        let is_virtual = |frame: &String| VMALLOC.iter().any(|begin| frame.starts_with(begin));
        if OF_INODES.contains(&function) {
            Some(Self::Inode)
        } else if function == THREADS && frames[..owner].iter().any(is_virtual) {
            Some(Self::ThreadStack)
        } else {
            None
        }
    }
}

/// Returns how many threads the machine has; `None` where `/proc` does not tell.
pub(crate) fn threads() -> Option<u64> {
    parse(&fs::read_to_string("/proc/loadavg").ok()?)
}

/// Reads the threads from a line such as `0.20 0.18 0.12 1/80 11206`.
fn parse(loadavg: &str) -> Option<u64> {
    loadavg.split(' ').nth(3)?.split_once('/')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_companion_is_known_by_its_owner_and_what_that_called() {
        let of = |frames: &[&str], owner| {
            let frames: Vec<String> = frames.iter().map(|&frame| frame.to_owned()).collect();
            Companion::of(&frames, owner)
        };
        assert_eq!(
            of(&["locks_get_lock_context+0x9e", "flock_lock_inode"], 0),
            Some(Companion::Inode)
        );
        let stack = ["__get_vm_area_node+0x80", "__vmalloc_node_noprof", "copy_process+0xe41"];
        assert_eq!(of(&stack, 2), Some(Companion::ThreadStack));
        // The rest that a new thread takes is its own.
        assert_eq!(of(&["kmem_cache_alloc_node_noprof", "copy_process+0x10"], 1), None);
        assert_eq!(of(&[], 0), None);
    }

    #[test]
    fn threads_stand_in_the_load() {
        assert_eq!(parse("0.20 0.18 0.12 1/80 11206\n"), Some(80));
        assert_eq!(parse("0.20"), None);
        assert!(threads().is_some_and(|threads| threads > 0));
    }
}
