//! The array's lock: four bytes, shared with C (`spinlock_t` of include/linux/spinlock.h).
//!
//! User space cannot switch preemption off, so a waiter that has spun for a while yields its time
//! slice.

use std::sync::atomic::{AtomicU32, Ordering};

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Spins before the first yield: about a microsecond, longer than most stores.
const SPINS: u32 = 64;

/// A lock of four bytes, all zero when free.
#[derive(Debug)]
#[repr(transparent)]
#[allow(unreachable_pub, reason = "the C face takes it, where that is built")]
pub struct Lock(AtomicU32);

impl Lock {
    pub(crate) const fn new() -> Self {
        Self(AtomicU32::new(FREE))
    }

    #[inline]
    pub(crate) fn try_lock(&self) -> bool {
        self.0.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline]
    pub(crate) fn lock(&self) {
        if !self.try_lock() {
            self.wait();
        }
    }

    #[cold]
    fn wait(&self) {
        let mut spins = 0;
        loop {
            while self.0.load(Ordering::Relaxed) == HELD {
                if spins < SPINS {
                    spins += 1;
                    std::hint::spin_loop();
                } else {
                    std::thread::yield_now();
                }
            }
            if self.try_lock() {
                return;
            }
        }
    }

    #[inline]
    pub(crate) fn unlock(&self) {
        debug_assert_eq!(self.0.load(Ordering::Relaxed), HELD, "unlocking a free lock");
        self.0.store(FREE, Ordering::Release);
    }
}
