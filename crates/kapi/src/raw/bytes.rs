//! Memory by address: reads that survive a bad pointer, and fills of memory that is ours.

use std::ffi::c_void;

/// Copies `buf.len()` bytes from an address of this process; false if it is not readable.
///
/// The operating system does the copy, so a bad pointer is an error and no signal. Safe to call
/// from a signal handler.
pub(crate) fn read(address: u64, buf: &mut [u8]) -> bool {
    let local = libc::iovec { iov_base: buf.as_mut_ptr().cast(), iov_len: buf.len() };
    let remote = libc::iovec { iov_base: address as *mut c_void, iov_len: buf.len() };
    // SAFETY: `local` describes a buffer that is ours; the call only reads process ids.
    let pid = unsafe { libc::getpid() };
    // SAFETY: both vectors are valid for the call; the kernel checks the remote addresses.
    let copied =
        unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    copied == buf.len().cast_signed()
}

/// Reads a C string of at most `max` bytes; `None` if it is not readable.
pub(crate) fn string(address: u64, max: usize) -> Option<Vec<u8>> {
    const PAGE: u64 = 4096;
    let mut text = Vec::new();
    while text.len() < max {
        let at = address + text.len() as u64;
        // To the end of the page at most: what lies behind may not be readable.
        let mut chunk = vec![0; ((PAGE - at % PAGE) as usize).min(max - text.len()).min(256)];
        if !read(at, &mut chunk) {
            return None;
        }
        if let Some(end) = chunk.iter().position(|&b| b == 0) {
            text.extend_from_slice(&chunk[..end]);
            return Some(text);
        }
        text.extend_from_slice(&chunk);
    }
    Some(text)
}

/// Fills memory.
///
/// # Safety
/// `address..address + len` must be allocated to the module and writable.
pub(crate) unsafe fn fill(address: u64, len: u64, value: u8) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::write_bytes(address as *mut u8, value, len as usize) };
}

/// Fills a block that the machine has just given out, or is about to take back.
pub(crate) fn block_fill(address: u64, len: u64, value: u8) {
    // SAFETY: the block is in the machine's memory or in a vmalloc area, which are writable, and
    // nobody else's at this moment.
    unsafe { fill(address, len, value) };
}

/// Returns the offset of the first byte of a live block's guard that is not `value`.
pub(crate) fn block_first_other(address: u64, len: u64, value: u8) -> Option<u64> {
    // SAFETY: the guard is in the machine's memory or in a vmalloc area.
    unsafe { first_other(address, len, value) }
}

/// Writes bytes to memory of the module.
///
/// # Safety
/// `address..address + bytes.len()` must be a variable or block of the module.
pub(crate) unsafe fn write(address: u64, bytes: &[u8]) {
    // SAFETY: the caller's promise; source and target are different memory.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, bytes.len()) };
}

/// Returns the offset of the first byte that is not `value`.
///
/// # Safety
/// `address..address + len` must be readable.
pub(crate) unsafe fn first_other(address: u64, len: u64, value: u8) -> Option<u64> {
    // SAFETY: the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, len as usize) };
    bytes.iter().position(|&b| b != value).map(|at| at as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_pointer_is_no_crash() {
        let text = b"hello\0";
        assert_eq!(string(text.as_ptr() as u64, 100).as_deref(), Some(&b"hello"[..]));
        assert_eq!(string(text.as_ptr() as u64, 2).as_deref(), Some(&b"he"[..]));
        assert_eq!(string(8, 100), None);
        assert!(!read(0xdead_0000_0000_0000, &mut [0; 8]));
    }
}
