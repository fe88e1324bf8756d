//! A spin lock around a value.
//!
//! # How it works
//! The lock is one word, taken by compare-and-swap and freed by a plain release store: an
//! uncontended turn costs one locked instruction. The holder does a bounded amount of work, as under
//! the kernel's spin locks. A waiter yields to the scheduler after a short spin, since there may be
//! fewer processors than threads. Where there is a clock (feature `std`), the time that each thread
//! has waited is known; a turn that needs no waiting costs nothing for that.

use core::cell::UnsafeCell;
use core::ops::{Deref, DerefMut};

use super::sync::{AtomicU32, Ordering, relax};
use super::zeroed::Zeroed;

/// A value behind a spin lock.
#[derive(Debug, Default)]
pub(crate) struct Lock<T> {
    held: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: the lock hands the value to one thread at a time.
unsafe impl<T: Send> Sync for Lock<T> {}
// SAFETY: the word 0 is "free", and the value is `Zeroed`.
unsafe impl<T: Zeroed> Zeroed for Lock<T> {
    #[cfg(loom)]
    fn zero() -> Self {
        Self::new(T::zero())
    }
}

impl<T> Lock<T> {
    /// Makes a free lock.
    pub(crate) fn new(value: T) -> Self {
        Self { held: AtomicU32::new(0), value: UnsafeCell::new(value) }
    }

    /// Takes the lock, waiting as long as it takes.
    #[inline]
    pub(crate) fn lock(&self) -> Guard<'_, T> {
        if self.try_take().is_err() {
            self.wait();
        }
        Guard { lock: self }
    }

    /// Takes the lock if it is free.
    pub(crate) fn try_lock(&self) -> Option<Guard<'_, T>> {
        self.try_take().is_ok().then_some(Guard { lock: self })
    }

    #[inline]
    fn try_take(&self) -> Result<u32, u32> {
        self.held.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed)
    }

    #[cold]
    fn wait(&self) {
        #[cfg(all(feature = "std", not(loom)))]
        let start = std::time::Instant::now();
        let mut spins = 0;
        while self.held.load(Ordering::Relaxed) != 0 || self.try_take().is_err() {
            relax(spins);
            spins += 1;
        }
        #[cfg(all(feature = "std", not(loom)))]
        {
            let ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
            // A thread that is ending may have no cell any more; its time is not read again either.
            let _ = WAITED_NS.try_with(|waited| waited.set(waited.get().saturating_add(ns)));
        }
    }
}

#[cfg(all(feature = "std", not(loom)))]
std::thread_local! {
    static WAITED_NS: core::cell::Cell<u64> = const { core::cell::Cell::new(0) };
}

/// Returns how long this thread has waited for locks of this library, all machines together, in nanoseconds.
#[cfg(all(feature = "std", not(loom)))]
pub fn lock_wait_ns() -> u64 {
    WAITED_NS.get()
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
        // SAFETY: the guard proves that the lock is held, so there is no other reference.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard proves that the lock is held, so there is no other reference.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.lock.held.store(0, Ordering::Release);
    }
}

#[cfg(all(test, feature = "std", not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn only_who_waits_is_charged() {
        let lock = Lock::new(0);
        let before = lock_wait_ns();
        *lock.lock() += 1;
        assert_eq!(lock_wait_ns(), before, "the lock was free");
        let held = lock.lock();
        let (started, start) = std::sync::mpsc::channel();
        let waited = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                started.send(()).unwrap();
                *lock.lock() += 1;
                lock_wait_ns()
            });
            start.recv().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(20));
            drop(held);
            other.join().unwrap()
        });
        assert!(waited > 0);
        assert_eq!((*lock.lock(), lock_wait_ns()), (2, before));
    }
}
