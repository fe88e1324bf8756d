//! What all threads of the child share: the job, the log, and the pipe to the parent.
//!
//! Everything is told to the parent as it happens, so that whatever stops the module, the parent knows what
//! came before. Offsets in the module stand for its addresses.

use std::io::{Stdout, Write};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use crate::error::Error;
use crate::event::{Event, FaultKind, Misuse};
use crate::image::Image;
use crate::job::Job;
use crate::ledger::finding;
use crate::log::Log;
use crate::raw::module;

/// What all threads of the child share.
#[derive(Debug)]
pub(crate) struct Runtime {
    pub(crate) job: Job,
    pub(crate) start: Instant,
    pub(crate) log: Log,
    pub(crate) image: Image,
    output: Mutex<Stdout>,
}

/// Exit status of the child after `BUG()` or `panic()`.
const STATUS_STOPPED: i32 = 70;

static RUNTIME: OnceLock<Runtime> = OnceLock::new();

/// Takes a lock whose holder may have been stopped by a finding.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the state, before anything asks for it.
pub(crate) fn start(job: Job, image: Image) -> Result<(), Error> {
    let start = Instant::now();
    let log = Log::new(start, job.version);
    let output = Mutex::new(std::io::stdout());
    RUNTIME
        .set(Runtime { job, start, log, image, output })
        .map_err(|_| Error::Child("started twice".into()))
}

/// Returns the shared state.
pub(crate) fn runtime() -> &'static Runtime {
    RUNTIME.get().expect("set before the machine boots")
}

/// Tells the parent.
pub(crate) fn emit(event: &Event) {
    runtime().emit(event);
}

/// Returns an address of the module as an offset.
pub(crate) fn offset(site: u64) -> u64 {
    runtime().offset(site)
}

/// Puts a warning of the host's own into the log.
pub(crate) fn warn(text: &str) {
    runtime().log.write(format!("\x014{text}\n").as_bytes(), emit_owned);
}

#[allow(clippy::needless_pass_by_value, reason = "the log hands events over")]
fn emit_owned(event: Event) {
    emit(&event);
}

/// Reports a pointer that leads nowhere.
pub(crate) fn report_foreign(what: &str, address: u64, site: u64) {
    let detail = format!("{what} of {address:#x}, which is no memory of the machine");
    emit(&finding(Misuse::ForeignFree, detail, None, offset(site)));
}

impl Runtime {
    pub(crate) fn emit(&self, event: &Event) {
        let mut line = serde_json::to_string(event).expect("events are plain data");
        line.push('\n');
        let mut output = lock(&self.output);
        // A parent that is gone needs no report; the child ends with it.
        let sent = output.write_all(line.as_bytes()).and_then(|()| output.flush());
        if sent.is_err() {
            std::process::exit(STATUS_STOPPED);
        }
    }

    pub(crate) fn offset(&self, site: u64) -> u64 {
        module::loaded().map_or(site, |module| site.wrapping_sub(module.base()))
    }

    /// Names an address of the module for `%pS`.
    pub(crate) fn symbol(&self, address: u64) -> Option<(String, u64, u64)> {
        let (name, offset, size) = self.image.symbol(self.offset(address))?;
        Some((name.to_string(), offset, size))
    }

    /// Names a variable of the module, or says where in memory something lies.
    pub(crate) fn variable(&self, address: u64) -> String {
        let named = self.image.variable(self.offset(address));
        named.map_or_else(|| format!("at {address:#x}"), |name| format!("`{name}`"))
    }

    /// Says where something began: a place that the parent names.
    pub(crate) fn since(&self, site: u64) -> String {
        let offset = self.offset(site);
        self.image.symbol(offset).map_or(String::new(), |_| format!(" since {{@{offset:x}}}"))
    }

    /// Ends the run, as BUG() and panic() do.
    pub(crate) fn stop(&self, why: &[u8]) -> ! {
        let kind = if why == b"BUG" { FaultKind::Bug } else { FaultKind::Panic };
        self.emit(&Event::Fault { kind });
        std::process::exit(STATUS_STOPPED)
    }
}
