//! The one engine of the process, for functions that C calls without saying which.

use std::sync::atomic::{AtomicPtr, Ordering};

use slablab_kmem::Backend;

use crate::child::engine::Engine;

static ENGINE: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Installs the engine. The functions of every other backend stay unused from then on.
pub(crate) fn install<B: Backend>(engine: Box<Engine<B>>) -> &'static Engine<B> {
    let engine: &'static Engine<B> = Box::leak(engine);
    ENGINE.store(std::ptr::from_ref(engine).cast_mut().cast(), Ordering::Release);
    engine
}

/// Returns the engine.
#[inline(always)]
pub(crate) fn engine<B: Backend>() -> &'static Engine<B> {
    let engine = ENGINE.load(Ordering::Relaxed).cast_const().cast::<Engine<B>>();
    // SAFETY: 1. `install` stored a leaked engine before any module was loaded; 2. the table that
    // `symbols` gives to the module is of the backend that was installed.
    unsafe { &*engine }
}
