//! A spin lock around a value.
//!
//! # How it works
//! One word, taken by compare-and-swap, freed by a plain release store: the cost of an uncontended
//! turn is one locked instruction. Who holds it does a bounded amount of work, as under the
//! kernel's spin locks; a waiter yields to the scheduler after a short spin, for there may be fewer
//! processors than threads.

use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};

use super::sync::{AtomicU32, Ordering, relax};
#[cfg_attr(loom, allow(unused_imports, reason = "loom sees a part of the crate"))]
use super::zeroed::Zeroed;

/// A value behind a spin lock.
#[derive(Debug, Default)]
pub(crate) struct Lock<T> {
    held: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: the lock hands the value to one thread at a time.
unsafe impl<T: Send> Sync for Lock<T> {}
#[cfg(not(loom))]
// SAFETY: the word 0 is "free", and the value is `Zeroed`.
unsafe impl<T: Zeroed> Zeroed for Lock<T> {}

impl<T> Lock<T> {
    /// Makes a free lock.
    pub(crate) fn new(value: T) -> Self {
        Self { held: AtomicU32::new(0), value: UnsafeCell::new(value) }
    }

    /// Takes the lock, waiting as long as it takes.
    #[inline]
    pub(crate) fn lock(&self) -> Guard<'_, T> {
        if self.held.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.wait();
        }
        Guard { lock: self }
    }

    /// Takes the lock if it is free.
    pub(crate) fn try_lock(&self) -> Option<Guard<'_, T>> {
        let taken = self.held.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok().then_some(Guard { lock: self })
    }

    #[cold]
    fn wait(&self) {
        let mut spins = 0;
        loop {
            if self.held.load(Ordering::Relaxed) == 0
                && self.held.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
            {
                return;
            }
            relax(spins);
            spins += 1;
        }
    }
}

/// The right to the value of a [`Lock`], given back on drop.
#[derive(Debug)]
pub(crate) struct Guard<'a, T> {
    lock: &'a Lock<T>,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the guard proves that the lock is held, so nobody else has a reference.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard proves that the lock is held, so nobody else has a reference.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.lock.held.store(0, Ordering::Release);
    }
}
