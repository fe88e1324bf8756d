//! The kernel's ring buffer of BPF, mapped into our memory: programs write records, and we read them where they are.
//!
//! # How it works
//! The first page has how far we have read, the next how far programs have written; behind it is the data, mapped twice in a
//! row, so that a record that goes over the end is read in one piece. A record begins with its length and a bit that is set
//! until it is whole.
//!
//! # Invariants
//! Between the two positions the kernel writes only records that are not yet whole. The bytes of a whole one stay as they are
//! until we move our position beyond it.
//!
//! Linux counterpart: `kernel/bpf/ringbuf.c` @ 6.1 to 7.3.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const HEAD_BYTES: u64 = 8;
const IS_BUSY: u32 = 1 << 31;
const IS_DISCARDED: u32 = 1 << 30;

/// A ring of `bytes`, a power of two, and its two positions.
#[derive(Debug)]
pub(crate) struct RingMemory {
    /// Our page, which we write
    read: Mapping,
    /// The page of the programs, and the data twice
    written: Mapping,
    page_bytes: usize,
    bytes: usize,
}

#[derive(Debug)]
struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping belongs to this value alone, and what others change is read as atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn new(fd: BorrowedFd<'_>, access: i32, at: usize, bytes: usize) -> io::Result<Self> {
        let at = i64::try_from(at).map_err(io::Error::other)?;
        let (share, fd) = (libc::MAP_SHARED, fd.as_raw_fd());
        // SAFETY: a new mapping at an address of the kernel's choice touches no memory of ours.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, share, fd, at) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("mapped at 0"))?;
        Ok(Self { start, bytes })
    }

    /// Returns the word of 64 bits with which it begins.
    fn position(&self) -> &AtomicU64 {
        // SAFETY: a mapping begins at a page, has more than 8 bytes until this is dropped, and any bits are a word.
        unsafe { self.start.cast().as_ref() }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this is the mapping that `new` made; what was borrowed of it cannot outlive this value.
        let _ = unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// Returns how many bytes a page has.
pub(crate) fn page_bytes() -> usize {
    // SAFETY: the call reads a constant of the system.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).unwrap_or(4096)
}

impl RingMemory {
    /// Maps a ring buffer of `bytes`, as it was created.
    pub(crate) fn map(fd: BorrowedFd<'_>, page_bytes: usize, bytes: usize) -> io::Result<Self> {
        let both = libc::PROT_READ | libc::PROT_WRITE;
        Ok(Self {
            read: Mapping::new(fd, both, 0, page_bytes)?,
            written: Mapping::new(fd, libc::PROT_READ, page_bytes, page_bytes + 2 * bytes)?,
            page_bytes,
            bytes,
        })
    }

    /// Gives each record that is whole to `each`, oldest first, and makes room for others behind it. Stops at one that is not
    /// yet whole. The caller is the only reader: the value is borrowed for it alone.
    pub(crate) fn take(&mut self, mut each: impl FnMut(&[u8])) {
        let end = self.written.position().load(Ordering::Acquire);
        let mut at = self.read.position().load(Ordering::Relaxed);
        while at < end {
            let offset = self.page_bytes + (at as usize & (self.bytes - 1));
            // SAFETY: `offset` is within the page and the first of the two copies of the data.
            let head = unsafe { self.written.start.add(offset) };
            // SAFETY: records begin at multiples of 8, where any bits are a word.
            let length = unsafe { head.cast::<AtomicU32>().as_ref() }.load(Ordering::Acquire);
            if length & IS_BUSY != 0 {
                return;
            }
            let bytes = (length & !IS_DISCARDED) as usize;
            if length & IS_DISCARDED == 0 {
                assert!(
                    bytes <= self.bytes,
                    "a record of {bytes} bytes in a ring of {}",
                    self.bytes
                );
                // SAFETY: behind a head there is its record, within the two copies.
                let start = unsafe { head.add(HEAD_BYTES as usize) };
                // SAFETY: the record is whole and not longer than a copy of the data, and the kernel does not write its bytes
                // before the position below is beyond them.
                each(unsafe { std::slice::from_raw_parts(start.as_ptr(), bytes) });
            }
            at += (bytes as u64 + HEAD_BYTES).next_multiple_of(HEAD_BYTES);
            self.read.position().store(at, Ordering::Release);
        }
    }
}
