//! The memory of a machine: a reserved address range, addressed by offset.
//!
//! # How it works
//! Linux overcommits a private, unreserved mapping: a machine of many GiB costs address space, and
//! memory only where an object was written. Every access goes through an offset that is checked
//! against the length and through an atomic word, so that a corrupted free list can make a wrong
//! answer but never undefined behaviour.
//!
//! # Invariants
//! `base` is page aligned; `len` is a multiple of the page size; all of it is readable and writable.

use core::ptr::NonNull;

use super::sync::Ordering;
#[cfg(feature = "std")]
use crate::error::Error;
use crate::ids::{ObjPtr, PAGE_SIZE};
use core::sync::atomic::AtomicU64;

/// Maps fresh zeroed memory, committed as it is touched, in small pages: a huge one would commit
/// 2 MiB for the first byte.
#[cfg(feature = "std")]
pub(crate) fn map(size: usize) -> Option<NonNull<u8>> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a fresh anonymous mapping at an address of the kernel's choice touches nothing.
    let base = unsafe { libc::mmap(core::ptr::null_mut(), size, protection, flags, -1, 0) };
    if base == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the range was mapped just above.
    unsafe { libc::madvise(base, size, libc::MADV_NOHUGEPAGE) };
    NonNull::new(base.cast())
}

/// Unmaps what [`map`] mapped.
///
/// # Safety
/// `base` and `size` must be those of a mapping that nobody uses any more.
#[cfg(feature = "std")]
pub(crate) unsafe fn unmap(base: NonNull<u8>, size: usize) {
    // SAFETY: promised by the caller.
    unsafe { libc::munmap(base.as_ptr().cast(), size) };
}

/// The memory that stands for a machine's RAM.
#[derive(Debug)]
pub struct Arena {
    base: NonNull<u8>,
    len: u64,
    owner: Owner,
}

#[derive(Debug)]
enum Owner {
    /// Private memory of our own.
    #[cfg(feature = "std")]
    Mapping,
    /// A file in memory, whose pages can be mapped elsewhere too.
    #[cfg(feature = "std")]
    File(i32),
    /// The caller's memory.
    Caller,
}

// SAFETY: the arena owns its range.
unsafe impl Send for Arena {}
// SAFETY: all access by reference is through atomics.
unsafe impl Sync for Arena {}

impl Arena {
    /// Reserves `len` bytes (a multiple of the page size) of address space.
    ///
    /// # Errors
    /// [`Error::Reserve`] when the operating system refuses.
    #[cfg(feature = "std")]
    pub(crate) fn reserve(len: u64) -> Result<Self, Error> {
        let size = usize::try_from(len).map_err(|_| Error::Reserve { bytes: len })?;
        let base = map(size).ok_or(Error::Reserve { bytes: len })?;
        Ok(Self { base, len, owner: Owner::Mapping })
    }

    /// As [`Self::reserve`], on a file in memory, so that pages can be mapped elsewhere too.
    ///
    /// # Errors
    /// [`Error::Reserve`] when the operating system refuses.
    #[cfg(feature = "std")]
    pub(crate) fn reserve_file(len: u64) -> Result<Self, Error> {
        let failed = Error::Reserve { bytes: len };
        // SAFETY: the name is a C string; the call touches nothing else.
        let file = unsafe { libc::memfd_create(c"slablab".as_ptr(), libc::MFD_CLOEXEC) };
        if file < 0 {
            return Err(failed);
        }
        // SAFETY: our own file, sparse until it is touched.
        let sized = unsafe { libc::ftruncate(file, len as i64) };
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
        let (size, anywhere) = (len as usize, core::ptr::null_mut());
        // SAFETY: a fresh mapping of our own file at an address of the kernel's choice.
        let base = unsafe { libc::mmap(anywhere, size, protection, flags, file, 0) };
        match NonNull::new(base.cast::<u8>()) {
            Some(base) if sized == 0 && base.as_ptr().cast() != libc::MAP_FAILED => {
                Ok(Self { base, len, owner: Owner::File(file) })
            }
            _ => {
                // SAFETY: opened above, used by nobody.
                unsafe { libc::close(file) };
                Err(failed)
            }
        }
    }

    /// Returns a window of `bytes` into which pages can be mapped; without addresses unless the
    /// arena is a file.
    pub(crate) fn window(&self, bytes: u64) -> super::vmap::Window {
        match self.owner {
            #[cfg(feature = "std")]
            Owner::File(file) => super::vmap::Window::reserve(file, bytes),
            _ => {
                let _ = bytes;
                super::vmap::Window::none()
            }
        }
    }

    /// Uses memory that the caller brings, whole pages of it.
    pub(crate) fn of_caller(memory: &'static mut [core::mem::MaybeUninit<u8>]) -> Self {
        let len = memory.len() as u64 & !(PAGE_SIZE - 1);
        // Never to be read as uninitialised, whoever had it before.
        memory.fill(core::mem::MaybeUninit::new(0));
        Self { base: NonNull::from(memory).cast(), len, owner: Owner::Caller }
    }

    /// Returns the length in bytes.
    #[inline(always)]
    pub fn len(&self) -> u64 {
        self.len
    }

    #[inline(always)]
    fn word(&self, off: u64) -> &AtomicU64 {
        assert!(off < self.len, "offset beyond the machine's memory");
        // SAFETY: in bounds (asserted), the arena is one allocation.
        let at = unsafe { self.base.as_ptr().add((off & !7) as usize) };
        // SAFETY: aligned by the mask on a page-aligned base, mapped, and only accessed atomically
        // by us; the holder of an object promises (raw API) to touch no other memory.
        unsafe { AtomicU64::from_ptr(at.cast::<u64>()) }
    }

    /// Reads the word at `off` (rounded down to 8).
    #[inline(always)]
    pub fn load(&self, off: u64) -> u64 {
        self.word(off).load(Ordering::Relaxed)
    }

    /// Writes the word at `off` (rounded down to 8).
    #[inline(always)]
    pub fn store(&self, off: u64, value: u64) {
        self.word(off).store(value, Ordering::Relaxed);
    }

    /// Returns the address of an object in this process.
    #[inline(always)]
    pub fn address(&self, obj: ObjPtr) -> NonNull<u8> {
        assert!(obj.get() < self.len, "offset beyond the machine's memory");
        // SAFETY: in bounds (asserted).
        unsafe { self.base.add(obj.get() as usize) }
    }

    /// Returns the offset of an address, if it lies in the arena.
    #[inline(always)]
    pub fn offset(&self, address: *const u8) -> Option<ObjPtr> {
        let off = (address.addr() as u64).wrapping_sub(self.base.as_ptr().addr() as u64);
        if off < self.len { ObjPtr::new(off) } else { None }
    }

    /// Fills `len` bytes with `byte`.
    pub fn fill(&self, off: u64, len: u64, byte: u8) {
        assert!(off <= self.len && len <= self.len - off, "range beyond the machine's memory");
        // SAFETY: in bounds (asserted).
        let at = unsafe { self.base.as_ptr().add(off as usize) };
        // SAFETY: in bounds; the caller owns the range it fills.
        unsafe { core::ptr::write_bytes(at, byte, len as usize) };
    }

    /// Reads one byte.
    pub fn byte(&self, off: u64) -> u8 {
        (self.load(off) >> ((off & 7) * 8)) as u8
    }

    /// Writes one byte; whoever shares its word must not write at the same time.
    pub(crate) fn set_byte(&self, off: u64, value: u8) {
        let shift = (off & 7) * 8;
        self.store(off, self.load(off) & !(0xff << shift) | u64::from(value) << shift);
    }

    /// Copies `len` bytes from `from` to `to`, which do not overlap.
    pub fn copy(&self, from: u64, to: u64, len: u64) {
        assert!(from.abs_diff(to) >= len, "ranges overlap");
        assert!(from.max(to) < self.len && len <= self.len - from.max(to), "range out of bounds");
        // SAFETY: in bounds (asserted).
        let source = unsafe { self.base.as_ptr().add(from as usize) };
        // SAFETY: in bounds (asserted).
        let target = unsafe { self.base.as_ptr().add(to as usize) };
        // SAFETY: both in bounds and disjoint (asserted).
        unsafe { core::ptr::copy_nonoverlapping(source, target, len as usize) };
    }

    /// Gives the memory of a page-aligned range back to the operating system; it reads as zeroes.
    /// Returns the bytes given back (0 where the memory is the caller's).
    pub fn discard(&self, off: u64, len: u64) -> u64 {
        assert!(off <= self.len && len <= self.len - off, "range beyond the machine's memory");
        match self.owner {
            Owner::Caller => 0,
            #[cfg(feature = "std")]
            Owner::File(file) => {
                punch_hole(file, off, len);
                len
            }
            #[cfg(feature = "std")]
            Owner::Mapping => {
                // SAFETY: in bounds (asserted).
                let at = unsafe { self.base.as_ptr().add(off as usize) };
                // SAFETY: whole pages of our own mapping that hold no object.
                unsafe { libc::madvise(at.cast(), len as usize, libc::MADV_DONTNEED) };
                len
            }
        }
    }
}

#[cfg(feature = "std")]
fn punch_hole(file: i32, off: u64, len: u64) {
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: a range of our own file that holds no object.
    unsafe { libc::fallocate(file, mode, off as i64, len as i64) };
}

impl Drop for Arena {
    fn drop(&mut self) {
        match self.owner {
            Owner::Caller => {}
            #[cfg(feature = "std")]
            Owner::File(file) => {
                // SAFETY: mapped in `reserve_file` with this length; objects borrow the machine.
                unsafe { unmap(self.base, self.len as usize) };
                // SAFETY: opened in `reserve_file`.
                unsafe { libc::close(file) };
            }
            #[cfg(feature = "std")]
            // SAFETY: mapped in `reserve` with this length; objects borrow the machine.
            Owner::Mapping => unsafe {
                unmap(self.base, self.len as usize);
            },
        }
    }
}
