//! A ring buffer: programs write records of any length, and we read them without a system call.
//!
//! How it works: the memory of both is mapped, see `raw/ring_memory.rs`. Programs write with `call ringbuf_output`, which
//! returns 0 where there was room. They need not wake us: whoever reads looks from time to time.
//!
//! Linux counterpart: `kernel/bpf/ringbuf.c` @ 6.1 to 7.3.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use crate::error::Error;
use crate::map::{TYPE_RING, create};
use crate::raw::{RingMemory, page_bytes};

/// Records that wait to be read.
#[derive(Debug)]
pub struct Ring {
    fd: OwnedFd,
    memory: RingMemory,
}

impl Ring {
    /// Makes an empty ring with room for at least `bytes`: the power of two that is not less, and a page at least.
    ///
    /// # Errors
    /// When the kernel refuses it: for lack of a right or of memory.
    pub fn new(name: &'static str, bytes: usize) -> Result<Self, Error> {
        let page_bytes = page_bytes();
        let bytes = bytes.next_power_of_two().max(page_bytes);
        let fd = create(name, TYPE_RING, [0, 0, bytes], 0)?;
        let memory = RingMemory::map(fd.as_fd(), page_bytes, bytes);
        Ok(Self { memory: memory.map_err(|source| Error::Map { name, source })?, fd })
    }

    /// Gives each record to `each`, oldest first, until one is not yet whole.
    pub fn take(&mut self, each: impl FnMut(&[u8])) {
        self.memory.take(each);
    }

    pub(crate) fn raw_fd(&self) -> u32 {
        self.fd.as_raw_fd().cast_unsigned()
    }
}
