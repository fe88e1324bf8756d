//! Models every interleaving of two threads at the lock.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p slablab-kmem --test loom --release`. The modules
//! under test are compiled into this file, on loom's atomics: the lock is not public.

#![cfg(loom)]
#![allow(dead_code, unused_imports, unused_macros, unreachable_pub)]

extern crate alloc;
extern crate std;

#[path = "../src/error.rs"]
mod error;
#[path = "../src/ids.rs"]
mod ids;

#[path = "../src/raw/mod.rs"]
mod raw;

use loom::sync::Arc;
use loom::thread;
use raw::lock::Lock;

#[test]
fn the_lock_admits_one() {
    loom::model(|| {
        let lock = Arc::new(Lock::new(0));
        let other = {
            let lock = Arc::clone(&lock);
            thread::spawn(move || *lock.lock() += 1)
        };
        *lock.lock() += 1;
        other.join().unwrap();
        assert_eq!(*lock.lock(), 2);
    });
}
