//! Memory from the operating system: mapped, reserved, given back.
//!
//! Linux counterpart: `mmap(2)`, `munmap(2)`, `madvise(2)`.

#[cfg(feature = "std")]
use core::ptr::NonNull;

use crate::ids::Order;

/// Alignment of a reserved range: that of the largest block of pages, so that a block's address is aligned
/// as its offset is.
pub(crate) const ALIGN: u64 = Order::MAX.bytes();

/// Maps fresh zeroed memory, committed as it is touched, in small pages: a huge one would commit
/// 2 MiB for the first byte.
#[cfg(feature = "std")]
pub(crate) fn map(size: usize) -> Option<NonNull<u8>> {
    let base = map_private(size, libc::PROT_READ | libc::PROT_WRITE)?;
    // SAFETY: the range was mapped just above.
    unsafe { libc::madvise(base.as_ptr().cast(), size, libc::MADV_NOHUGEPAGE) };
    Some(base)
}

#[cfg(feature = "std")]
fn map_private(size: usize, protection: i32) -> Option<NonNull<u8>> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a fresh anonymous mapping at an address of the kernel's choice touches nothing.
    let base = unsafe { libc::mmap(core::ptr::null_mut(), size, protection, flags, -1, 0) };
    if base == libc::MAP_FAILED { None } else { NonNull::new(base.cast()) }
}

/// Reserves addresses that start at a multiple of [`ALIGN`], without access.
#[cfg(feature = "std")]
pub(super) fn reserve_addresses(size: usize) -> Option<NonNull<u8>> {
    let slack = ALIGN as usize;
    let base = map_private(size.checked_add(slack)?, libc::PROT_NONE)?;
    let skip = base.addr().get().next_multiple_of(slack) - base.addr().get();
    // SAFETY: in bounds, `slack` bytes more than wanted were reserved.
    let start = unsafe { base.add(skip) };
    // SAFETY: in bounds, as above.
    let end = unsafe { start.add(size) };
    for (at, bytes) in [(base, skip), (end, slack - skip)] {
        if bytes > 0 {
            // SAFETY: a part of our own mapping that is not used.
            unsafe { unmap(at, bytes) };
        }
    }
    Some(start)
}

/// Unmaps what [`map`] mapped.
///
/// # Safety
/// `base` and `size` must be those of a mapping that is not used any more.
#[cfg(feature = "std")]
pub(crate) unsafe fn unmap(base: NonNull<u8>, size: usize) {
    // SAFETY: promised by the caller.
    unsafe { libc::munmap(base.as_ptr().cast(), size) };
}
