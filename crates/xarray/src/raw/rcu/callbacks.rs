//! Functions to be called when every reader has moved on: `call_rcu` for C, dropping for the typed face.
//!
//! Pending calls and one batch that waits, as in [`super::domain`].

use std::sync::Mutex;

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

fn with_queue<T>(f: impl FnOnce(&mut Queue) -> T) -> T {
    f(&mut QUEUE.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
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
        advance();
    }
}

/// Runs the batch that waited long enough, and lets the next one wait.
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

#[cfg(feature = "capi")]
/// Waits until all calls deferred before have been made.
pub(crate) fn drain() {
    for _ in 0..2 {
        synchronize();
        advance();
    }
}
