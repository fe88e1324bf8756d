//! SIGINT, SIGTERM and SIGHUP: the signals by which a user or the system asks the tool to end.
//!
//! There are two ways to notice them. An [`Interrupt`] is a flag for work that checks it now and then; a
//! second signal ends the process at once. [`Signals`] are events for work that sleeps until something
//! happens; the defaults return when they are dropped.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

/// The signals that request an end.
const ENDING: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// Makes a write beyond the limit of file sizes (`ulimit -f`) fail with EFBIG, as one on a full disk fails with ENOSPC.
/// Otherwise the signal that comes with it would end the process without a message, and without cleaning up.
///
/// The signal is caught and not ignored, so that a program that this one starts has the default.
///
/// # Errors
///
/// If the system refuses the handler.
pub fn survive_file_size_limit() -> io::Result<()> {
    signal_hook::flag::register(SIGXFSZ, Arc::default()).map(|_| ())
}

/// Whether the user or the system requested an end.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Returns one that is set by SIGINT, SIGTERM and SIGHUP from now on; a second SIGINT or SIGTERM ends the process
    /// with status 2. (A lost terminal sends SIGHUP twice: once itself, once by its shell.)
    ///
    /// # Errors
    ///
    /// If the system refuses the handlers.
    pub fn on_signals() -> io::Result<Self> {
        let interrupt = Self::default();
        for signal in ENDING {
            // The order matters: the shutdown reads the flag before this signal sets it.
            if signal != SIGHUP {
                signal_hook::flag::register_conditional_shutdown(signal, 2, interrupt.0.clone())?;
            }
            signal_hook::flag::register(signal, interrupt.0.clone())?;
        }
        Ok(interrupt)
    }

    /// Returns one that is never set by a signal.
    #[must_use]
    pub fn never() -> Self {
        Self::default()
    }

    /// Returns whether an end was requested.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Requests an end, as a signal would.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The same signals as events, and the end of a child as an event that only wakes.
#[derive(Debug)]
pub struct Signals {
    wake: UnixStream,
    last: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
}

impl Signals {
    /// Catches the signals until the value is dropped.
    ///
    /// # Errors
    ///
    /// If the system refuses the handlers.
    pub fn catch() -> io::Result<Signals> {
        let (wake, write) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let signals = Signals { wake, last: Arc::default(), over: Arc::default() };
        for signal in ENDING {
            signal_hook::flag::register_conditional_default(signal, signals.over.clone())?;
            signal_hook::flag::register_usize(signal, signals.last.clone(), signal as usize)?;
            signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
        }
        signal_hook::low_level::pipe::register(SIGCHLD, write)?;
        Ok(signals)
    }

    /// Sleeps until a signal comes, a child ends, or `until`; returns the last signal that requests an end.
    pub fn wait(&mut self, until: Option<Instant>) -> Option<i32> {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let time = left.map(|left| Timespec {
            tv_sec: left.as_secs().min(1 << 30).cast_signed(),
            tv_nsec: i64::from(left.subsec_nanos()),
        });
        let mut woken = [PollFd::new(&self.wake, PollFlags::IN)];
        // An interruption of the sleep is a signal too, which the flag shows.
        let _ = poll(&mut woken, time.as_ref());
        let mut bytes = [0; 64];
        while self.wake.read(&mut bytes).is_ok_and(|read| read > 0) {}
        match self.last.swap(0, Ordering::AcqRel) {
            0 => None,
            signal => i32::try_from(signal).ok(),
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
    }
}
