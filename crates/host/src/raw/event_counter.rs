//! How many times a tracepoint was passed, counted by the kernel.
//!
//! Linux counterpart: `perf_event_open(2)`; `struct perf_event_attr` in `include/uapi/linux/perf_event.h` @ 6.18.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::FromRawFd;

/// The first form of `perf_event_attr` (PERF_ATTR_SIZE_VER0), which every kernel takes.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    bits: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    breakpoint_address: u64,
}

/// PERF_TYPE_TRACEPOINT
const TRACEPOINT: u32 = 2;
/// Threads and processes that are begun later are counted, too.
const INHERIT: u64 = 1 << 1;
/// Of what a hypervisor does, a guest's kernel knows nothing.
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
/// PERF_FLAG_FD_CLOEXEC
const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;

/// Whose passes are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Those on a CPU, whoever runs there
    Cpu(u32),
    /// Those of this thread, and of threads and processes that it begins from now on
    Own,
}

/// A counter of one tracepoint, from when it was opened.
#[derive(Debug)]
pub struct EventCounter(File);

impl EventCounter {
    /// Opens and starts a counter of the tracepoint with number `id` (`events/<group>/<event>/id` of tracefs).
    ///
    /// # Errors
    ///
    /// If the kernel refuses it: it has no perf events, or does not let this user count.
    pub fn open(id: u64, counted: Counted) -> io::Result<EventCounter> {
        let (pid, cpu, inherit) = match counted {
            Counted::Cpu(cpu) => (-1, cpu.cast_signed(), 0),
            Counted::Own => (0, -1, INHERIT),
        };
        let attributes = Attributes {
            kind: TRACEPOINT,
            size: size_of::<Attributes>() as u32,
            config: id,
            bits: EXCLUDE_HYPERVISOR | inherit,
            ..Attributes::default()
        };
        let (attributes, group): (_, libc::c_int) = (&raw const attributes, -1);
        // SAFETY: the kernel reads as many bytes behind the pointer as `size` says, which live until the call returns.
        let fd = unsafe {
            libc::syscall(libc::SYS_perf_event_open, attributes, pid, cpu, group, CLOSE_ON_EXEC)
        };
        let fd = i32::try_from(fd).map_err(io::Error::other)?;
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just made this descriptor, and only the counter has it.
        Ok(EventCounter(unsafe { File::from_raw_fd(fd) }))
    }

    /// Returns how many passes there were since it was opened.
    ///
    /// # Errors
    ///
    /// If the kernel cannot say.
    pub fn read(&self) -> io::Result<u64> {
        let mut count = [0; 8];
        (&self.0).read_exact(&mut count)?;
        Ok(u64::from_ne_bytes(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attributes_are_as_long_as_their_first_form() {
        assert_eq!(size_of::<Attributes>(), 64);
    }

    #[test]
    fn a_tracepoint_that_does_not_exist_is_refused_and_not_counted() {
        let error = EventCounter::open(u64::MAX, Counted::Own).unwrap_err();
        assert!(error.raw_os_error().is_some(), "{error}");
    }
}
