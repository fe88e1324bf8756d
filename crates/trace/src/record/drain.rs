//! Empties the ring buffers into files while the recording runs, one thread per CPU.
//!
//! # How it works
//! A thread sleeps until its CPU's buffer is half full (`buffer_percent`), so that a short recording is not disturbed at
//! all: woken at a quarter, it cost a tenth of the workload's time. Then it moves all whole pages to a file of the
//! recording's folder. The page being written is left alone: a page costs the same whole or half full. A recording that
//! is longer than [`UNDISTURBED`] is emptied once a second, however little there is, so that a recorder that is killed
//! loses little. The threads run at the highest priority that is not real-time, for a workload with hundreds of runnable
//! tasks leaves an ordinary thread too small a share to keep up.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::time::ClockId;

use super::first_look::WRITTEN_WITHIN_NS;
use super::packed::{Growth, Writer};
use super::sampler;
use super::unfinished::Unfinished;
use crate::Error;

/// Percent of a buffer that wakes the thread that empties it.
pub(super) const WAKE_PERCENT: u32 = 50;

/// How long a thread sleeps at most before it looks whether the recording has ended.
const NAP: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// For how long only a buffer that is half full is emptied, and how often each is afterwards.
const UNDISTURBED: Duration = Duration::from_secs(3);
const EMPTIED_EVERY: Duration = Duration::from_secs(1);

/// Pages moved by one write.
const PAGES: usize = 64;

/// One CPU's buffer and the file it is emptied into.
#[derive(Debug)]
pub(super) struct Drain {
    spool: Writer,
    growth: Arc<Growth>,
    pipe: File,
    pipe_path: PathBuf,
    spool_path: PathBuf,
    page_bytes: usize,
    /// For how long it emptied the buffer, and how much of that it waited for the file.
    run_for: Duration,
    written_for: Duration,
}

impl Drain {
    /// Opens `trace_pipe_raw` of `cpu` and makes its file in the folder of the recording.
    pub(super) fn open(
        cpu: u32,
        pipe_path: PathBuf,
        unfinished: &Unfinished,
        page_bytes: usize,
    ) -> Result<Drain, Error> {
        let pipe = open_pipe(&pipe_path).map_err(|e| Error::io(&pipe_path, "cannot open", e))?;
        let spool_path = unfinished.pages_path(cpu);
        let spool = unfinished.create_pages(cpu, page_bytes)?;
        let (run_for, written_for) = (Duration::ZERO, Duration::ZERO);
        let growth = spool.growth();
        Ok(Drain { spool, growth, pipe, pipe_path, spool_path, page_bytes, run_for, written_for })
    }

    /// Returns how far its file has come.
    pub(super) fn growth(&self) -> Arc<Growth> {
        Arc::clone(&self.growth)
    }

    /// Empties the buffer until `stop`, and then to the end. A file that cannot be written ends it at once.
    pub(super) fn run(&mut self, stop: &AtomicBool) -> Result<(), Error> {
        let since = Instant::now();
        let done = self.empty_until(stop);
        self.run_for = since.elapsed();
        done
    }

    /// Returns how much of its time it waited for the file: near 1 where the disk is slower than the events come.
    pub(super) fn write_share(&self) -> f64 {
        self.written_for.as_secs_f64() / self.run_for.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    fn empty_until(&mut self, stop: &AtomicBool) -> Result<(), Error> {
        // Without the right to it we record all the same, only with less priority.
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), -20);
        let mut buffer = vec![0; self.page_bytes * PAGES];
        let mut emptied = Instant::now() + UNDISTURBED;
        loop {
            let ending = stop.load(Ordering::Acquire);
            if !ending {
                let mut full = [PollFd::new(&self.pipe, PollFlags::IN)];
                let is_full = !matches!(poll(&mut full, Some(&NAP)), Ok(0) | Err(_));
                let is_due = emptied.elapsed() >= EMPTIED_EVERY;
                if !is_full && !is_due {
                    continue;
                }
                if is_due {
                    emptied = Instant::now();
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

    /// Moves up to [`PAGES`] pages; returns whether there may be more worth moving.
    fn move_pages(&mut self, buffer: &mut [u8], ending: bool) -> Result<bool, Error> {
        let (mut filled, mut more, mut is_empty) = (0, true, false);
        let begun_ns = sampler::clock_ns(ClockId::Monotonic);
        for page in buffer.chunks_exact_mut(self.page_bytes) {
            match self.pipe.read(page) {
                Ok(0) => (more, is_empty) = (false, true),
                Ok(bytes) => {
                    page[bytes..].fill(0);
                    filled += self.page_bytes;
                    more = ending || nearly_full(page);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    (more, is_empty) = (false, true);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io(&self.pipe_path, "cannot read", error)),
            }
            if !more {
                break;
            }
        }
        let since = Instant::now();
        let written = self.spool.write(&buffer[..filled]);
        self.written_for += since.elapsed();
        written
            .map_err(|error| Error::io(&self.spool_path, "cannot write the recording", error))?;
        if is_empty {
            self.growth.complete(begun_ns.saturating_sub(WRITTEN_WITHIN_NS));
        }
        Ok(more)
    }
}

/// Gives what an abandoned buffer holds to `write`, some pages at a time: up to its last event.
pub(super) fn take_rest(
    pipe: &Path,
    page_bytes: usize,
    mut write: impl FnMut(&[u8]) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut pipe = open_pipe(pipe)?;
    let mut pages = vec![0; page_bytes * PAGES];
    let (mut filled, mut more) = (0, true);
    while more {
        let page = &mut pages[filled..filled + page_bytes];
        match pipe.read(page) {
            Ok(0) => more = false,
            Ok(bytes) => {
                page[bytes..].fill(0);
                filled += page_bytes;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => more = false,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if filled == pages.len() || !more {
            write(&pages[..filled])?;
            filled = 0;
        }
    }
    Ok(())
}

fn open_pipe(path: &Path) -> std::io::Result<File> {
    File::options().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)
}

/// Tells whether a page is one that the kernel has finished: it was full, so its end is used.
fn nearly_full(page: &[u8]) -> bool {
    let committed = page.get(8..12).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    (committed & 0x3fff_ffff) as usize > page.len() * 3 / 4
}
