//! Memory by address: reads in which a bad pointer is an error and no signal, and fills of memory that is ours.

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

/// Fills a block that the machine has just given out, or is about to take back.
pub(crate) fn block_fill(address: u64, len: u64, value: u8) {
    // SAFETY: the block is in the machine's memory or in a vmalloc area, which are writable, and
    // nobody else's at this moment.
    unsafe { std::ptr::write_bytes(address as *mut u8, value, len as usize) };
}

/// Returns the offset of the first byte of a live block's guard that is not `value`.
pub(crate) fn block_first_other(address: u64, len: u64, value: u8) -> Option<u64> {
    // SAFETY: the guard is in the machine's memory or in a vmalloc area, which are readable.
    let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, len as usize) };
    bytes.iter().position(|&b| b != value).map(|at| at as u64)
}

/// Copies between two blocks that the module holds, both at least `len` bytes long.
pub(crate) fn block_copy(from: u64, to: u64, len: u64) {
    // SAFETY: both blocks are the module's, live, different, and at least this long.
    unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, len as usize) };
}

/// Reads an array of `count` pointers that a module passes.
pub(crate) fn pointers(array: u64, count: u64) -> Vec<u64> {
    // SAFETY: the module passes an array of `count` pointers.
    unsafe { std::slice::from_raw_parts(array as *const u64, count as usize) }.to_vec()
}

/// Writes pointers into an array of the module.
pub(crate) fn put_pointers(array: u64, pointers: &[u64]) {
    let bytes: Vec<u8> = pointers.iter().flat_map(|p| p.to_ne_bytes()).collect();
    // SAFETY: the module passes an array that holds at least these.
    unsafe { write(array, &bytes) };
}

/// Writes as much of a text as fits into a caller's buffer, with a zero byte at the end.
pub(crate) fn put_text(buf: u64, size: u64, text: &[u8]) {
    let Some(room) = size.checked_sub(1) else { return };
    let fits = &text[..text.len().min(room as usize)];
    // SAFETY: the caller of snprintf() has `size` bytes there.
    unsafe { write(buf, fits) };
    // SAFETY: as above; `fits` is at most one less than `size`.
    unsafe { write(buf + fits.len() as u64, &[0]) };
}

/// Returns a text that the runtime passes for the time of a call.
pub(crate) fn text<'t>(text: *const u8, len: u64) -> &'t [u8] {
    // SAFETY: the runtime passes a buffer of its own that holds for the call.
    unsafe { std::slice::from_raw_parts(text, len as usize) }
}

/// Writes bytes to memory of the module.
///
/// # Safety
/// `address..address + bytes.len()` must be a variable or block of the module.
pub(crate) unsafe fn write(address: u64, bytes: &[u8]) {
    // SAFETY: the caller's promise; source and target are different memory.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, bytes.len()) };
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
