//! A test by itself, because the panic meets whichever thread of the process reclaims.

use std::sync::{Arc, Barrier};

use slablab_rcu::{barrier, drop_later, pin};

struct Panics;

impl Drop for Panics {
    fn drop(&mut self) {
        panic!("on purpose");
    }
}

/// The rest of a batch after a panic, and the next batch, used to be never dropped.
#[test]
fn an_owner_that_panics_takes_no_other_with_it() {
    let owner = Arc::new(());
    let (entered, done) = (Barrier::new(2), Barrier::new(2));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let section = pin();
            entered.wait();
            done.wait();
            drop(section);
        });
        entered.wait();
        // The first batch waits from its 64th on, and the rest is pending.
        for i in 0..200 {
            drop_later(Arc::clone(&owner));
            if i % 50 == 7 {
                drop_later(Panics);
            }
        }
        assert_eq!(Arc::strong_count(&owner), 201);
        done.wait();
        reader.join().expect("no panic");
    });
    let panics = (0..5).filter(|_| std::panic::catch_unwind(barrier).is_err()).count();
    assert_eq!((Arc::strong_count(&owner), panics), (1, 4));
}
