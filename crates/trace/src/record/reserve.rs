//! Room on the disk that a recording keeps for its end and its trace, as it may fill the disk itself.
//!
//! How it works: a file without content grows with what is recorded, and is removed at the end. A trace is smaller than half
//! of the packed pages that it is made of.
//!
//! Where the file system cannot reserve room, the end is told and the trace is made if there is some.

use std::fs::File;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

/// What is kept beside the part of what is recorded: kernel's names and samples are in each trace.
const BYTES_MIN: u64 = 1 << 20;
/// One byte is kept for this many that are recorded.
const PART: u64 = 2;
/// It grows by as much.
const STEP_BYTES: u64 = 1 << 18;

/// The room that is kept.
#[derive(Debug, Default)]
pub(super) struct Reserve {
    file: OnceLock<File>,
    recorded_bytes: AtomicU64,
}

impl Reserve {
    /// Begins to keep room.
    pub(super) fn begin(&self, file: File) {
        let file = self.file.get_or_init(|| file);
        let _ = fallocate(file, FallocateFlags::empty(), 0, BYTES_MIN);
    }

    /// Gives the room back: that of a file that is open stays taken when it is removed.
    pub(super) fn end(&self) {
        if let Some(file) = self.file.get() {
            let _ = file.set_len(0);
        }
    }

    /// Keeps more room, as `bytes` more were recorded.
    pub(super) fn grow(&self, bytes: u64) -> std::io::Result<()> {
        let before = self.recorded_bytes.fetch_add(bytes, Ordering::Relaxed);
        let (from, to) = (kept_for(before), kept_for(before + bytes));
        let Some(file) = self.file.get().filter(|_| to > from) else { return Ok(()) };
        match fallocate(file, FallocateFlags::empty(), from, to - from) {
            Err(full @ (Errno::NOSPC | Errno::DQUOT)) => Err(full.into()),
            _ => Ok(()),
        }
    }
}

/// Returns how much room is kept when as much was recorded.
fn kept_for(recorded_bytes: u64) -> u64 {
    let part = recorded_bytes / PART;
    BYTES_MIN + (part - part % STEP_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_for_the_trace_grows_with_what_is_recorded() {
        let reserve = Reserve::default();
        reserve.grow(1 << 20).unwrap();
        let file = tempfile::tempfile().unwrap();
        reserve.begin(file.try_clone().unwrap());
        if file.metadata().unwrap().len() == 0 {
            eprintln!("not run: the file system keeps no room");
            return;
        }
        (0..100).for_each(|_| reserve.grow(100 << 10).unwrap());
        let kept = file.metadata().unwrap().len();
        assert!((5 << 20..=7 << 20).contains(&kept), "{kept} bytes for 11 MiB");
        reserve.end();
        assert_eq!(file.metadata().unwrap().len(), 0);
    }
}
