//! The terminal that keys come from, and whether it still exists.
//!
//! A terminal that is closed, or whose connection is lost, reads as at its end for ever. So code that waits for keys
//! has to check before reading.

use std::fs::File;
use std::io::{IsTerminal, stdin};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Standard input if it is a terminal, else the terminal that the process belongs to.
#[derive(Debug)]
pub struct Terminal(Option<File>);

impl Terminal {
    /// Finds the terminal.
    ///
    /// # Errors
    ///
    /// If the process has none.
    pub fn find() -> std::io::Result<Self> {
        Ok(Self(if stdin().is_terminal() { None } else { Some(File::open("/dev/tty")?) }))
    }

    /// Waits for a key, or until `time` (less than a second) is over; returns whether the terminal is gone.
    #[must_use]
    pub fn is_lost_within(&self, time: Duration) -> bool {
        // An interruption is a signal, which is handled elsewhere.
        let state = self.with(|fd| polled(fd, time));
        state.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
    }

    /// Appends what was typed by now.
    pub(crate) fn read_typed(&self, to: &mut Vec<u8>) -> std::io::Result<()> {
        let mut typed = [0; TYPED_MAX];
        let length = self.with(|fd| match polled(fd, Duration::ZERO) {
            state if state.contains(PollFlags::IN) => rustix::io::read(fd, &mut typed),
            _ => Ok(0),
        })?;
        to.extend_from_slice(&typed[..length]);
        Ok(())
    }

    /// Does something with the terminal.
    pub(crate) fn with<R>(&self, work: impl FnOnce(BorrowedFd<'_>) -> R) -> R {
        match &self.0 {
            Some(file) => work(file.as_fd()),
            None => work(stdin().as_fd()),
        }
    }
}

/// How much of what was typed is read at once.
const TYPED_MAX: usize = 1024;

/// Waits for something to read, `time` at most.
fn polled(fd: BorrowedFd<'_>, time: Duration) -> PollFlags {
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
    let time = Timespec { tv_sec: 0, tv_nsec: i64::from(time.subsec_nanos()) };
    let _ = poll(&mut fds, Some(&time));
    fds[0].revents()
}
