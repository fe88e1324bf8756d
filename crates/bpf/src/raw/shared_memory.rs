//! The value of a map, mapped into our memory: programs and we read and write the same words.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Words that BPF programs change while we look.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping belongs to this value alone, and all access is atomic.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// Maps the first `bytes` of the values of a map that was created with `BPF_F_MMAPABLE`.
    pub(crate) fn map(fd: BorrowedFd<'_>, bytes: usize) -> io::Result<Self> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let (share, fd) = (libc::MAP_SHARED, fd.as_raw_fd());
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, share, fd, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("mapped at 0"))?;
        Ok(Self { start, bytes })
    }

    /// Returns the words of 64 bits.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        let start = self.start.as_ptr().cast::<AtomicU64>();
        // SAFETY: a mapping begins at a page, is as long as said until this is dropped, and any bits are a word.
        unsafe { std::slice::from_raw_parts(start, self.bytes / 8) }
    }

    /// Returns the words of 32 bits.
    pub(crate) fn halves(&self) -> &[AtomicU32] {
        let start = self.start.as_ptr().cast::<AtomicU32>();
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(start, self.bytes / 4) }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: this is the mapping that `map` made; slices of it cannot outlive this value.
        let _ = unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}
