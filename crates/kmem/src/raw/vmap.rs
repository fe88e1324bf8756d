//! A window of addresses into which pages of a mapped arena are put, in any order.
//!
//! # How it works
//! The arena is a file in memory; a page of it appears a second time in the window by mapping the
//! file there at the page's offset, one call for a run of neighbours. Without a file behind the
//! arena the window is empty, and addresses are mere numbers.

use core::ptr::NonNull;

use super::arena::Arena;
#[cfg(feature = "std")]
use crate::ids::PAGE_SIZE;
use crate::ids::Pfn;

/// A reserved range of addresses, in pages.
#[derive(Debug)]
pub(crate) struct Window {
    #[cfg(feature = "std")]
    mapped: Option<Mapped>,
}

#[cfg(feature = "std")]
#[derive(Debug)]
struct Mapped {
    base: NonNull<u8>,
    bytes: usize,
    file: i32,
}

#[cfg(feature = "std")]
// SAFETY: owns its range of addresses; mapping and unmapping are system calls.
unsafe impl Send for Mapped {}
#[cfg(feature = "std")]
// SAFETY: as above; callers hold the vmalloc lock for each page they touch.
unsafe impl Sync for Mapped {}

impl Window {
    /// Reserves `bytes` of addresses for pages of an arena. The window has no addresses if they cannot be had,
    /// or if there is no file behind the arena.
    pub(crate) fn reserve(arena: &Arena, bytes: u64) -> Self {
        let _ = (arena, bytes);
        Self {
            #[cfg(feature = "std")]
            mapped: arena.file().and_then(|file| {
                let bytes = bytes as usize;
                let base = super::mapping::reserve_addresses(bytes)?;
                Some(Mapped { base, bytes, file })
            }),
        }
    }

    /// Puts `count` pages of the arena from `pfn` on at page `at` of the window; `false` if the
    /// operating system is out of mappings.
    #[must_use]
    pub(crate) fn map(&self, at: u64, pfn: Pfn, count: u64) -> bool {
        #[cfg(feature = "std")]
        if let Some(window) = &self.mapped {
            return window.replace(at, count, Some(pfn));
        }
        let _ = (at, pfn, count);
        true
    }

    /// Takes `count` pages at page `at` out of the window: touching them faults again.
    pub(crate) fn unmap(&self, at: u64, count: u64) {
        #[cfg(feature = "std")]
        if let (Some(window), 1..) = (&self.mapped, count) {
            // At its limit of mappings the operating system refuses new ones even in place of old
            // ones; closing whole mappings needs none. The closed ones go when the range is mapped
            // again.
            let closed = window.replace(at, count, None) || window.close(at, count);
            assert!(closed, "closing whole mappings needs no memory");
        }
        let _ = (at, count);
    }

    /// Returns the address of an offset; `None` if the window has no addresses.
    pub(crate) fn address(&self, offset: u64) -> Option<NonNull<u8>> {
        #[cfg(feature = "std")]
        if let Some(window) = &self.mapped {
            assert!(offset < window.bytes as u64, "offset beyond the vmalloc range");
            // SAFETY: in bounds (asserted).
            return Some(unsafe { window.base.add(offset as usize) });
        }
        let _ = offset;
        None
    }

    /// Returns the offset of an address in the window.
    pub(crate) fn offset(&self, address: *const u8) -> Option<u64> {
        #[cfg(feature = "std")]
        if let Some(window) = &self.mapped {
            let offset = address.addr().wrapping_sub(window.base.as_ptr().addr());
            return (offset < window.bytes).then_some(offset as u64);
        }
        let _ = address;
        None
    }
}

#[cfg(feature = "std")]
impl Mapped {
    fn replace(&self, at: u64, count: u64, pfn: Option<Pfn>) -> bool {
        let (offset, bytes) = ((at * PAGE_SIZE) as usize, (count * PAGE_SIZE) as usize);
        assert!(offset <= self.bytes && bytes <= self.bytes - offset, "pages beyond the window");
        // SAFETY: in bounds (asserted).
        let place = unsafe { self.base.as_ptr().add(offset) };
        let (protection, flags, file, from) = match pfn {
            Some(pfn) => {
                let protection = libc::PROT_READ | libc::PROT_WRITE;
                (protection, libc::MAP_SHARED | libc::MAP_FIXED, self.file, pfn.offset())
            }
            None => {
                let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
                (libc::PROT_NONE, flags | libc::MAP_FIXED, -1, 0)
            }
        };
        // SAFETY: replaces pages of our own reserved range that hold no live object.
        let done = unsafe { libc::mmap(place.cast(), bytes, protection, flags, file, from as i64) };
        done != libc::MAP_FAILED
    }

    /// Makes pages fault, whatever is mapped there.
    fn close(&self, at: u64, count: u64) -> bool {
        let (offset, bytes) = ((at * PAGE_SIZE) as usize, (count * PAGE_SIZE) as usize);
        assert!(offset <= self.bytes && bytes <= self.bytes - offset, "pages beyond the window");
        // SAFETY: in bounds (asserted).
        let place = unsafe { self.base.as_ptr().add(offset) };
        // SAFETY: pages of our own reserved range that hold no live object.
        unsafe { libc::mprotect(place.cast(), bytes, libc::PROT_NONE) == 0 }
    }
}

#[cfg(feature = "std")]
impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: reserved in `reserve` with this length; areas borrow the machine.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

/// Reads a word of an area that is mapped, for tests.
#[cfg(all(test, not(loom)))]
pub(crate) fn peek(base: NonNull<u8>, offset: u64, bytes: u64) -> u64 {
    assert!(offset.is_multiple_of(8) && offset + 8 <= bytes);
    // SAFETY: in bounds of the area (asserted).
    let at = unsafe { base.add(offset as usize) };
    // SAFETY: mapped, aligned (asserted), any bits are a number.
    unsafe { at.cast::<u64>().read() }
}
