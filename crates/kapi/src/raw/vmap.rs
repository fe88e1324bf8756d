//! Address space for vmalloc areas.

/// Address space of one area: its pages, readable and writable, and a guard page behind them.
#[derive(Debug)]
pub(crate) struct Area {
    base: u64,
    bytes: u64,
}

const PAGE: u64 = 4096;

impl Area {
    /// Maps `bytes` (whole pages) of zeroed memory.
    pub(crate) fn map(bytes: u64) -> Option<Self> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let size = usize::try_from(bytes + PAGE).ok()?;
        // SAFETY: a fresh mapping at an address of the system's choice touches nothing.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), size, libc::PROT_NONE, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return None;
        }
        let area = Self { base: base as u64, bytes };
        // SAFETY: the range was mapped just above and is nobody else's.
        let opened =
            unsafe { libc::mprotect(base, bytes as usize, libc::PROT_READ | libc::PROT_WRITE) };
        (opened == 0).then_some(area)
    }

    /// Returns the address of its first byte.
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// Returns its length without the guard page.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Area {
    fn drop(&mut self) {
        // SAFETY: the area owns the mapping; who still holds a pointer into it faults, as in Linux.
        unsafe { libc::munmap(self.base as *mut libc::c_void, (self.bytes + PAGE) as usize) };
    }
}
