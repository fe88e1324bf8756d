//! Empties the ring buffers into files while the recording runs, one thread per CPU.
//!
//! How it works: a thread sleeps until its CPU's buffer is half full (`buffer_percent`), so that a short recording is
//! not disturbed at all: woken at a quarter, it cost a tenth of the workload's time. Then it moves all whole pages to
//! a file without a name beside the output. The page being written is left alone: a page costs the same whole or half
//! full. The threads run at the highest priority that is not real-time, for a workload with hundreds of runnable
//! tasks leaves an ordinary thread too small a share to keep up.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;

use crate::Error;

/// Percent of a buffer that wakes the thread that empties it.
pub(super) const WAKE_PERCENT: u32 = 50;

/// How long a thread sleeps at most before it looks whether the recording has ended.
const NAP: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// Pages moved by one write.
const PAGES: usize = 64;

/// One CPU's buffer and the file it is emptied into.
#[derive(Debug)]
pub(super) struct Drain {
    pub(super) cpu: u32,
    spool: File,
    pipe: File,
    pipe_path: PathBuf,
    spool_path: PathBuf,
    page_bytes: usize,
}

impl Drain {
    /// Opens `trace_pipe_raw` of `cpu` and a file in the directory of `output`.
    pub(super) fn open(
        cpu: u32,
        pipe_path: PathBuf,
        output: &Path,
        page_bytes: usize,
    ) -> Result<Drain, Error> {
        let pipe = File::options()
            .read(true)
            .custom_flags(OFlags::NONBLOCK.bits() as i32)
            .open(&pipe_path)
            .map_err(|e| Error::io(&pipe_path, "cannot open", e))?;
        let spool_path = slablab_host::folder_of(output).to_owned();
        let spool = tempfile::tempfile_in(&spool_path)
            .map_err(|e| Error::io(&spool_path, "cannot make a temporary file", e))?;
        Ok(Drain { cpu, spool, pipe, pipe_path, spool_path, page_bytes })
    }

    /// Empties the buffer until `stop`, and then to the end. A file that cannot be written ends it at once.
    pub(super) fn run(&mut self, stop: &AtomicBool) -> Result<(), Error> {
        // Without the right to it we record all the same, only with less priority.
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), -20);
        let mut buffer = vec![0; self.page_bytes * PAGES];
        loop {
            let ending = stop.load(Ordering::Acquire);
            if !ending {
                let mut full = [PollFd::new(&self.pipe, PollFlags::IN)];
                if matches!(poll(&mut full, Some(&NAP)), Ok(0) | Err(_)) {
                    continue;
                }
            }
            while self.move_pages(&mut buffer, ending)? {}
            if ending {
                return Ok(());
            }
        }
    }

    /// Waits for `stop`, and then moves what the buffer holds.
    pub(super) fn run_last(&mut self, stop: &AtomicBool) -> Result<(), Error> {
        while !stop.load(Ordering::Acquire) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let mut buffer = vec![0; self.page_bytes * PAGES];
        while self.move_pages(&mut buffer, true)? {}
        Ok(())
    }

    /// Returns the file from its beginning, and its length.
    pub(super) fn into_spool(mut self) -> Result<(File, u64), Error> {
        let length = self.spool.stream_position().and_then(|length| {
            self.spool.rewind()?;
            Ok(length)
        });
        let length = length.map_err(|e| Error::io(&self.spool_path, "cannot read", e))?;
        Ok((self.spool, length))
    }

    /// Moves up to [`PAGES`] pages; returns whether there may be more worth moving.
    fn move_pages(&mut self, buffer: &mut [u8], ending: bool) -> Result<bool, Error> {
        let (mut filled, mut more) = (0, true);
        for page in buffer.chunks_exact_mut(self.page_bytes) {
            match self.pipe.read(page) {
                Ok(0) => more = false,
                Ok(bytes) => {
                    page[bytes..].fill(0);
                    filled += self.page_bytes;
                    more = ending || nearly_full(page);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => more = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io(&self.pipe_path, "cannot read", error)),
            }
            if !more {
                break;
            }
        }
        self.spool
            .write_all(&buffer[..filled])
            .map_err(|e| Error::io(&self.spool_path, "cannot write the recording", e))?;
        Ok(more)
    }
}

/// Tells whether a page is one that the kernel has finished: it was full, so its end is used.
fn nearly_full(page: &[u8]) -> bool {
    let committed = page.get(8..12).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    (committed & 0x3fff_ffff) as usize > page.len() * 3 / 4
}
