//! `bpf(2)`: a command and a structure of its attributes.
//!
//! How it works: [`Attributes`] is the structure as bytes. A pointer in it is entered with the buffer that it points to, which
//! stays borrowed until the call, so that the kernel never sees an address that is no longer ours.
//!
//! Linux counterpart: `union bpf_attr` in `include/uapi/linux/bpf.h` @ 6.18.

use std::io;
use std::marker::PhantomData;
use std::os::fd::{FromRawFd, OwnedFd};

/// Bytes of the structure that any command here needs.
const ATTRIBUTES_BYTES: usize = 128;

/// The attributes of a command, whose buffers live for `'a`.
pub(crate) struct Attributes<'a> {
    bytes: [u8; ATTRIBUTES_BYTES],
    buffers: PhantomData<&'a mut [u8]>,
}

impl<'a> Attributes<'a> {
    pub(crate) fn new() -> Self {
        Self { bytes: [0; ATTRIBUTES_BYTES], buffers: PhantomData }
    }

    pub(crate) fn u32(mut self, at: usize, value: u32) -> Self {
        self.bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        self
    }

    pub(crate) fn u64(mut self, at: usize, value: u64) -> Self {
        self.bytes[at..at + 8].copy_from_slice(&value.to_ne_bytes());
        self
    }

    /// Enters a name of at most 15 bytes.
    pub(crate) fn name(mut self, at: usize, name: &str) -> Self {
        let name = &name.as_bytes()[..name.len().min(15)];
        self.bytes[at..at + name.len()].copy_from_slice(name);
        self
    }

    /// Enters the address of a buffer that the kernel reads.
    pub(crate) fn input(self, at: usize, buffer: &'a [u8]) -> Self {
        self.u64(at, buffer.as_ptr().expose_provenance() as u64)
    }

    /// Enters the address of a buffer that the kernel writes.
    pub(crate) fn output(self, at: usize, buffer: &'a mut [u8]) -> Self {
        self.u64(at, buffer.as_mut_ptr().expose_provenance() as u64)
    }

    /// Returns what the kernel wrote into the attributes themselves.
    pub(crate) fn read_u32(&self, at: usize) -> u32 {
        u32::from_ne_bytes(self.bytes[at..at + 4].try_into().expect("four bytes"))
    }
}

/// Calls the kernel. The caller enters buffers that are as long as the command says: each function of this crate that makes
/// attributes checks that of its own command.
pub(crate) fn call(command: i32, attributes: &mut Attributes<'_>) -> io::Result<i64> {
    let (at, bytes) = (attributes.bytes.as_mut_ptr(), attributes.bytes.len());
    // SAFETY: the structure is ours and as long as said; the buffers that it names are borrowed for `'a`.
    let result = unsafe { libc::syscall(libc::SYS_bpf, command, at, bytes) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Calls the kernel for a new file descriptor, which is closed when a program is started.
pub(crate) fn call_for_fd(command: i32, attributes: &mut Attributes<'_>) -> io::Result<OwnedFd> {
    let fd = call(command, attributes)?;
    let fd = i32::try_from(fd).map_err(io::Error::other)?;
    // SAFETY: the kernel has just opened it for this call, and nothing else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
