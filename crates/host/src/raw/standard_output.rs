//! Whether standard output was closed when the process began (`>&-`).
//!
//! # How it works
//! Before `main` the standard library opens `/dev/null` in the place of a closed standard stream, and what is
//! written there is lost without an error. So a constructor of the program checks the stream before that.

use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

extern "C" fn look() {
    let closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err();
    WAS_CLOSED.store(closed, Ordering::Relaxed);
}

// SAFETY: the section is a list of functions that the C library calls once before `main`, with arguments that this one
// leaves alone; it needs nothing that is set up later.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// Returns whether there was no standard output to write to.
#[must_use]
pub fn standard_output_was_closed() -> bool {
    WAS_CLOSED.load(Ordering::Relaxed)
}
