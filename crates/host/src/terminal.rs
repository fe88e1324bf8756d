//! The terminal that keys come from, and whether it still exists.
//!
//! A terminal that is closed, or whose connection is lost, reads as at its end for ever. So code that waits for keys
//! has to check before reading.

use std::fs::File;
use std::io::{IsTerminal, stdin};
use std::os::fd::AsFd;
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
        let stdin = stdin();
        let fd = self.0.as_ref().map_or_else(|| stdin.as_fd(), File::as_fd);
        let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
        let time = Timespec { tv_sec: 0, tv_nsec: i64::from(time.subsec_nanos()) };
        // An interruption is a signal, which is handled elsewhere.
        let _ = poll(&mut fds, Some(&time));
        fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
    }
}
