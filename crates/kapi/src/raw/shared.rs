//! Values that C holds by address: the one engine of the process, and handles.

use std::sync::atomic::{AtomicPtr, Ordering};

static ENGINE: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Installs the engine. The functions for every other type of engine stay unused from then on.
pub(crate) fn install<T>(engine: Box<T>) -> &'static T {
    let engine: &'static T = Box::leak(engine);
    ENGINE.store(std::ptr::from_ref(engine).cast_mut().cast(), Ordering::Release);
    engine
}

/// Returns the engine, for functions that C calls without saying which.
#[inline(always)]
pub(crate) fn installed<T>() -> &'static T {
    let engine = ENGINE.load(Ordering::Relaxed).cast_const().cast::<T>();
    // SAFETY: 1. `install` stored a leaked engine before any module was loaded; 2. the table that
    // `symbols` gives to the module is of the type of engine that was installed.
    unsafe { &*engine }
}

/// Gives a handle an address that never moves.
pub(crate) fn leak<T>(handle: T) -> u64 {
    std::ptr::from_ref(Box::leak(Box::new(handle))) as u64
}

/// Returns the handle of type `T` that a module holds.
#[inline(always)]
pub(crate) fn leaked<T>(address: u64) -> &'static T {
    // SAFETY: the module got the address from `leak`; handles are never freed. A module that makes
    // one up reads nonsense, as in the kernel.
    unsafe { &*(address as *const T) }
}
