//! The memory of a machine: a reserved address range, addressed by offset.
//!
//! # How it works
//! Linux overcommits a private, unreserved mapping: a machine of many GiB costs address space, and memory
//! only where an object was written. Every access of this library, filling and copying included, goes
//! through an atomic word and an offset that is checked against the length. So whatever races and however
//! a free list is damaged, the answer may be wrong but the behaviour is defined. Users keep their own
//! accesses through [`Arena::address`] apart from that: see [`crate::Machine::address`].
//!
//! # Invariants
//! `base` is a multiple of [`ALIGN`] (of a page, where the memory is the caller's); `len` is a multiple of the
//! page size; all of it is readable and writable.

use core::ptr::NonNull;

use super::mapping::ALIGN;
#[cfg(feature = "std")]
use super::mapping::{reserve_addresses, unmap};
use super::sync::{AtomicU64, Ordering};
#[cfg(loom)]
use super::zeroed::ZeroedSlice;
#[cfg(feature = "std")]
use crate::error::Error;
use crate::ids::{ObjPtr, PAGE_SIZE};

/// The memory that stands for a machine's RAM.
#[derive(Debug)]
pub struct Arena {
    base: NonNull<u8>,
    len: u64,
    owner: Owner,
    /// The words as loom knows them; the memory itself stays untouched.
    #[cfg(loom)]
    words: ZeroedSlice<AtomicU64>,
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
    fn new(base: NonNull<u8>, len: u64, owner: Owner) -> Self {
        Self {
            base,
            len,
            owner,
            #[cfg(loom)]
            words: ZeroedSlice::new((len / 8) as usize),
        }
    }

    /// Reserves `len` bytes (a multiple of the page size) of address space.
    ///
    /// # Errors
    /// Returns [`Error::Reserve`] if the operating system refuses.
    #[cfg(feature = "std")]
    pub(crate) fn reserve(len: u64) -> Result<Self, Error> {
        // One huge page would commit 2 MiB for the first byte.
        Self::reserve_private(len, libc::MADV_NOHUGEPAGE)
    }

    /// Reserves as [`Self::reserve`] does, committed in huge pages where the operating system has
    /// them.
    ///
    /// # Errors
    /// Returns [`Error::Reserve`] if the operating system refuses.
    #[cfg(feature = "std")]
    pub(crate) fn reserve_huge(len: u64) -> Result<Self, Error> {
        Self::reserve_private(len, libc::MADV_HUGEPAGE)
    }

    #[cfg(feature = "std")]
    fn reserve_private(len: u64, advice: i32) -> Result<Self, Error> {
        let failed = Error::Reserve { bytes: len };
        let Some(base) = usize::try_from(len).ok().and_then(reserve_addresses) else {
            return Err(failed);
        };
        let arena = Self::new(base, len, Owner::Mapping);
        let (protection, at) = (libc::PROT_READ | libc::PROT_WRITE, base.as_ptr().cast());
        // SAFETY: our own mapping, which is not used yet.
        let opened = unsafe { libc::mprotect(at, len as usize, protection) };
        // SAFETY: as above. A system that does not know the advice refuses it, and that is as good.
        unsafe { libc::madvise(at, len as usize, advice) };
        if opened == 0 { Ok(arena) } else { Err(failed) }
    }

    /// Reserves as [`Self::reserve`] does, on a file in memory, so that pages can be mapped
    /// elsewhere too.
    ///
    /// # Errors
    /// Returns [`Error::Reserve`] if the operating system refuses.
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
        let Some(base) = usize::try_from(len).ok().and_then(reserve_addresses) else {
            // SAFETY: opened above, and not used by other code.
            unsafe { libc::close(file) };
            return Err(failed);
        };
        let arena = Self::new(base, len, Owner::File(file));
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE | libc::MAP_FIXED;
        let at = base.as_ptr().cast();
        // SAFETY: our own file in place of our own addresses, which are not used yet.
        let mapped = unsafe { libc::mmap(at, len as usize, protection, flags, file, 0) };
        if sized == 0 && mapped == at { Ok(arena) } else { Err(failed) }
    }

    /// Returns the alignment of the first address, in bytes, up to [`ALIGN`].
    pub(crate) fn align(&self) -> u64 {
        1 << (self.base.addr().get() as u64 | ALIGN).trailing_zeros()
    }

    /// Returns whether the arena is private memory of its own.
    #[cfg(feature = "std")]
    pub(crate) fn is_private(&self) -> bool {
        matches!(self.owner, Owner::Mapping)
    }

    /// Returns the file behind the arena, if it is one.
    #[cfg(feature = "std")]
    pub(super) fn file(&self) -> Option<i32> {
        match self.owner {
            Owner::File(file) => Some(file),
            _ => None,
        }
    }

    /// Uses memory that the caller brings, whole pages of it.
    pub(crate) fn of_caller(memory: &'static mut [core::mem::MaybeUninit<u8>]) -> Self {
        let len = memory.len() as u64 & !(PAGE_SIZE - 1);
        // The bytes are never read as uninitialised, whoever had them before.
        memory.fill(core::mem::MaybeUninit::new(0));
        Self::new(NonNull::from(memory).cast(), len, Owner::Caller)
    }

    /// Returns the length in bytes.
    #[inline(always)]
    pub fn len(&self) -> u64 {
        self.len
    }

    #[cfg(loom)]
    fn word(&self, off: u64) -> &AtomicU64 {
        &self.words[(off / 8) as usize]
    }

    #[cfg(not(loom))]
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

    /// Returns all words: the number of one is its offset divided by 8.
    #[cfg(loom)]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        self.words.as_slice()
    }

    /// Returns all words: the number of one is its offset divided by 8.
    #[cfg(not(loom))]
    #[inline(always)]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        let first = self.base.as_ptr().cast::<AtomicU64>();
        // SAFETY: the arena is one mapping, page-aligned, of `len` bytes that are initialised (a mapping's are zeroes);
        // each word is accessed atomically, else as in `word`.
        unsafe { core::slice::from_raw_parts(first, (self.len / 8) as usize) }
    }

    /// Reads the word with a number.
    #[inline(always)]
    pub(crate) fn load_numbered(&self, number: u64) -> u64 {
        self.words()[number as usize].load(Ordering::Relaxed)
    }

    /// Writes the word with a number.
    #[inline(always)]
    pub(crate) fn store_numbered(&self, number: u64, value: u64) {
        self.words()[number as usize].store(value, Ordering::Relaxed);
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
        self.write(off, len, |_| u64::from_ne_bytes([byte; 8]));
    }

    /// Reads one byte.
    pub fn byte(&self, off: u64) -> u8 {
        self.load(off).to_ne_bytes()[(off & 7) as usize]
    }

    /// Writes one byte.
    pub(crate) fn set_byte(&self, off: u64, value: u8) {
        self.fill(off, 1, value);
    }

    /// Writes one byte of a word that no other thread writes at the same time: a lock of the caller's guards
    /// it.
    #[inline]
    pub(crate) fn set_guarded_byte(&self, off: u64, value: u8) {
        let place = if cfg!(target_endian = "little") { off & 7 } else { 7 - (off & 7) };
        let (mask, bits) = (0xff << (8 * place), u64::from(value) << (8 * place));
        self.store(off, self.load(off) & !mask | bits);
    }

    /// Copies `len` bytes from `from` to `to`, both multiples of 8, which do not overlap.
    pub fn copy(&self, from: u64, to: u64, len: u64) {
        assert!(from.abs_diff(to) >= len, "ranges overlap");
        assert!(from.is_multiple_of(8) && to.is_multiple_of(8), "objects start at multiples of 8");
        assert!(from <= self.len && len <= self.len - from, "range beyond the machine's memory");
        self.write(to, len, |at| self.load(from + (at - to)));
    }

    /// Writes `len` bytes from `off` on, word by word; `word` says what the word at an offset is to hold.
    /// In the words at the ends only the bytes in the range change, whoever writes the others.
    #[inline]
    fn write(&self, off: u64, len: u64, word: impl Fn(u64) -> u64) {
        assert!(off <= self.len && len <= self.len - off, "range beyond the machine's memory");
        let (mut at, end) = (off & !7, off + len);
        while at < end {
            if at >= off && at + 8 <= end {
                self.store(at, word(at));
            } else {
                let mask: [u8; 8] = core::array::from_fn(|i| {
                    if (off..end).contains(&(at + i as u64)) { 0xff } else { 0 }
                });
                let mask = u64::from_ne_bytes(mask);
                let new = |old| Some(old & !mask | word(at) & mask);
                let _ = self.word(at).fetch_update(Ordering::Relaxed, Ordering::Relaxed, new);
            }
            at += 8;
        }
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

#[cfg(all(test, feature = "std", not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn fills_and_copies_what_is_asked_and_no_more() {
        for arena in [Arena::reserve_huge(1 << 20).unwrap(), Arena::reserve_file(1 << 20).unwrap()]
        {
            assert_eq!(arena.align(), ALIGN);
            let bytes = |from: u64, to: u64| (from..to).map(|at| arena.byte(at)).collect();
            let wanted = |parts: &[(u64, u8)]| -> alloc::vec::Vec<u8> {
                parts.iter().flat_map(|&(n, byte)| core::iter::repeat_n(byte, n as usize)).collect()
            };
            for (off, len) in [(64, 0), (64, 1), (67, 3), (71, 2), (70, 13), (64, 40), (65, 39)] {
                arena.fill(0, 256, 9);
                arena.fill(off, len, 5);
                let all: alloc::vec::Vec<u8> = bytes(0, 256);
                assert_eq!(all, wanted(&[(off, 9), (len, 5), (256 - off - len, 9)]));
                arena.copy(off & !7, 1024, len + 3);
                let copied: alloc::vec::Vec<u8> = bytes(1024, 1024 + len + 3);
                assert_eq!(copied, all[(off & !7) as usize..][..len as usize + 3]);
                assert_eq!(arena.byte(1024 + len + 3), 0);
                arena.fill(1024, 256, 0);
            }
            arena.set_byte((1 << 20) - 1, 7);
            assert_eq!(arena.load((1 << 20) - 8).to_ne_bytes(), [0, 0, 0, 0, 0, 0, 0, 7]);
        }
    }

    #[test]
    #[should_panic(expected = "range beyond the machine's memory")]
    fn nothing_is_filled_beyond_the_end() {
        Arena::reserve(1 << 20).unwrap().fill((1 << 20) - 4, 5, 0);
    }
}
