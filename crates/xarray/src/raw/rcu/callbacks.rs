//! Functions to be called when every reader has moved on: `call_rcu` for C, dropping for the typed face.
//!
//! Pending calls and one batch that waits, as in [`super::domain`]. Calls are made by whoever defers another one
//! (or waits for all), one batch at a time.
//!
//! # Lock order
//!
//! `RUNNING`, then `QUEUE`. Functions run under the first, so one that defers more leaves them for later.

use std::sync::{Mutex, PoisonError, TryLockError};

#[cfg(feature = "capi")]
use super::process::synchronize;
use super::process::{is_done, is_solitary, poll, ticket};

/// What is called, and with what.
#[derive(Debug, Clone, Copy)]
struct Call {
    pointer: *mut (),
    function: unsafe fn(*mut ()),
}

/// SAFETY: whoever defers a call hands the pointer over, to whichever thread.
unsafe impl Send for Call {}

/// Calls that may be pending before some are tried.
const BATCH: usize = 64;

#[derive(Debug)]
struct Queue {
    pending: Vec<Call>,
    waiting: Vec<Call>,
    ticket: usize,
}

static QUEUE: Mutex<Queue> =
    Mutex::new(Queue { pending: Vec::new(), waiting: Vec::new(), ticket: 0 });

/// Held while a batch is being called.
static RUNNING: Mutex<()> = Mutex::new(());

fn with_queue<T>(f: impl FnOnce(&mut Queue) -> T) -> T {
    f(&mut QUEUE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Calls the function with the pointer, now or when all readers of now have moved on.
///
/// # Safety
///
/// The call is sound, once, on any thread, when no reader is left.
pub(crate) unsafe fn defer(pointer: *mut (), function: unsafe fn(*mut ())) {
    if is_solitary() {
        // SAFETY: no other thread reads, and this one is outside any section.
        return unsafe { function(pointer) };
    }
    let is_due = with_queue(|queue| {
        queue.pending.push(Call { pointer, function });
        queue.pending.len() >= BATCH
    });
    if is_due {
        poll();
        match RUNNING.try_lock() {
            Ok(_held) => advance(),
            Err(TryLockError::Poisoned(_held)) => advance(),
            // Another thread is at it, or this one further up.
            Err(TryLockError::WouldBlock) => {}
        }
    }
}

/// Runs the batch that waited long enough, and lets the next one wait. Under `RUNNING`.
fn advance() {
    let due = with_queue(|queue| {
        if !queue.waiting.is_empty() && !is_done(queue.ticket) {
            return Vec::new();
        }
        queue.ticket = ticket();
        let pending = std::mem::take(&mut queue.pending);
        std::mem::replace(&mut queue.waiting, pending)
    });
    for call in due {
        // SAFETY: whoever deferred it promised, and the readers of then have moved on.
        unsafe { (call.function)(call.pointer) };
    }
}

/// Waits until all calls deferred before have been made, and have returned.
#[cfg(feature = "capi")]
pub(crate) fn drain() {
    for _ in 0..2 {
        synchronize();
        let _held = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        advance();
    }
}
