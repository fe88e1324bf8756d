//! The process-wide interface with real threads and `membarrier(2)`: it is also run under ThreadSanitizer and
//! AddressSanitizer.
//!
//! All tests share the process's one domain, so each counts only what is its own.

#[path = "raw/objects.rs"]
mod objects;

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use objects::{Object, Shared, call_counted};
use slablab_rcu::{
    Guard, barrier, drop_later, enter, is_past, is_reading, leave, pin, synchronize, ticket,
};

/// Three readers, whose sections nest now and then, run beside two writers that free what they replace in
/// this way.
fn readers_beside_writers(free: impl Fn(Box<Object>) + Sync) {
    let (shared, stop, started) = (Shared::new(), AtomicBool::new(false), Barrier::new(5));
    std::thread::scope(|scope| {
        let readers = [(); 3].map(|()| {
            scope.spawn(|| {
                started.wait();
                while !stop.load(Ordering::Relaxed) {
                    let section = pin();
                    let object = shared.find(&section);
                    let inner = pin();
                    assert!(object.0.iter().all(|&word| word == object.0[0]));
                    drop(inner);
                    assert!(object.0.iter().all(|&word| word == object.0[0]));
                }
            })
        });
        let writers = [0, 1].map(|_| {
            scope.spawn(|| {
                started.wait();
                (1..=500).for_each(|n| free(shared.replace(n)));
            })
        });
        // They are joined one by one: ThreadSanitizer does not see the end of a scope alone as a
        // hand-over.
        writers.into_iter().for_each(|writer| writer.join().expect("no panic"));
        stop.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| reader.join().expect("no panic"));
    });
}

#[test]
fn waiting_protects_readers() {
    readers_beside_writers(|object| {
        synchronize();
        drop(object);
    });
}

#[test]
fn dropping_later_protects_readers() {
    readers_beside_writers(drop_later);
}

#[test]
fn a_barrier_waits_for_all_calls_of_all_threads() {
    let (calls, deferred) = (AtomicUsize::new(0), AtomicUsize::new(0));
    // Some thread always reads, so that nothing is called at once.
    let (open, close) = (Barrier::new(2), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            open.wait();
            while !close.load(Ordering::Relaxed) {
                drop(pin());
            }
        });
        open.wait();
        let threads = [0, 1, 2].map(|_| {
            scope.spawn(|| {
                for _ in 0..200 {
                    call_counted(&calls);
                    deferred.fetch_add(1, Ordering::Release);
                }
                let before = deferred.load(Ordering::Acquire);
                barrier();
                assert!(calls.load(Ordering::Relaxed) >= before);
            })
        });
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
        close.store(true, Ordering::Relaxed);
        reader.join().expect("no panic");
    });
    barrier();
    assert_eq!(calls.into_inner(), 600);
}

/// Runs `f` while another thread is in a section, so that nothing is reclaimed at once.
fn beside_a_reader(f: impl FnOnce()) {
    let (entered, done) = (Barrier::new(2), Barrier::new(2));
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let section = pin();
            entered.wait();
            done.wait();
            drop(section);
        });
        entered.wait();
        f();
        done.wait();
        reader.join().expect("no panic");
    });
}

#[test]
fn an_owner_lives_as_long_as_a_reader_of_its_time() {
    let owner = Arc::new(());
    beside_a_reader(|| {
        drop_later(Arc::clone(&owner));
        (0..1000).for_each(|_| drop_later(0));
        assert_eq!(Arc::strong_count(&owner), 2);
    });
    barrier();
    assert_eq!(Arc::strong_count(&owner), 1);
}

#[test]
#[should_panic(expected = "inside a read-side section")]
fn waiting_for_oneself_is_refused() {
    let _section = pin();
    synchronize();
}

#[test]
fn waiting_for_a_call_inside_that_call_is_refused() {
    struct Waits(Arc<AtomicBool>);
    impl Drop for Waits {
        fn drop(&mut self) {
            self.0.store(std::panic::catch_unwind(barrier).is_err(), Ordering::Relaxed);
        }
    }
    let was_refused = Arc::new(AtomicBool::new(false));
    beside_a_reader(|| drop_later(Waits(Arc::clone(&was_refused))));
    barrier();
    assert!(was_refused.load(Ordering::Relaxed));
}

/// Each node used to drop the next one inside its own drop: a list of 100,000 took more than a
/// stack.
#[test]
fn a_list_whose_nodes_drop_the_next_later_takes_no_stack() {
    struct Node {
        next: Option<Box<Node>>,
        left: Arc<AtomicUsize>,
    }
    impl Drop for Node {
        fn drop(&mut self) {
            self.left.fetch_sub(1, Ordering::Relaxed);
            if let Some(next) = self.next.take() {
                drop_later(next);
            }
        }
    }
    const NODES: usize = 200_000;
    let left = Arc::new(AtomicUsize::new(NODES));
    let list = (0..NODES).fold(None, |next, _| Some(Box::new(Node { next, left: left.clone() })));
    drop_later(list);
    // Other tests' threads may read, and what takes long is left for the next call.
    while left.load(Ordering::Relaxed) > 0 {
        drop_later(0);
        barrier();
    }
}

#[test]
#[should_panic(expected = "nested read-side sections")]
fn sections_that_cannot_be_counted_are_refused() {
    let _sections: Vec<Guard> = (0..1 << 16).map(|_| pin()).collect();
}

/// `leave` used to end the section under a guard, and what the guard's owner looked at was freed, without any unsafe
/// code.
#[test]
fn leaving_a_section_of_c_ends_no_guards() {
    std::thread::spawn(|| {
        let guard = pin();
        assert!(std::panic::catch_unwind(leave).is_err(), "nobody called enter()");
        assert!(is_reading() && std::panic::catch_unwind(synchronize).is_err());
        enter();
        enter();
        drop(guard);
        leave();
        assert!(is_reading(), "the first section of C goes on");
        let guard = pin();
        leave();
        assert!(std::panic::catch_unwind(leave).is_err() && is_reading());
        drop(guard);
        assert!(!is_reading());
        synchronize();
    })
    .join()
    .expect("no panic");
}

#[test]
fn a_ticket_is_past_once_the_readers_of_its_time_have_left() {
    let taken = Cell::new(None);
    beside_a_reader(|| {
        let ticket = ticket();
        assert!(!is_past(ticket));
        taken.set(Some(ticket));
    });
    let ticket = taken.take().expect("taken");
    // Other tests' readers leave as well.
    while !is_past(ticket) {
        std::thread::yield_now();
    }
}

/// A section may outlive the thread's own record keeping if it is kept in a thread-local that is dropped
/// later.
#[test]
fn a_section_kept_in_a_thread_local_outlives_the_exit() {
    static WAS_READING: AtomicBool = AtomicBool::new(false);
    struct Keeper(Cell<Option<Guard>>);
    impl Drop for Keeper {
        fn drop(&mut self) {
            WAS_READING.store(std::panic::catch_unwind(synchronize).is_err(), Ordering::Relaxed);
            self.0.take();
        }
    }
    thread_local!(static KEEPER: Keeper = const { Keeper(Cell::new(None)) });
    // Thread-locals touched last are dropped first, so the keeper goes after the record's owner.
    let keep = || KEEPER.with(|keeper| keeper.0.set(Some(pin())));
    std::thread::spawn(keep).join().expect("no panic");
    assert!(WAS_READING.load(Ordering::Relaxed));
    synchronize();
}

/// Reclaiming used to stop without a message.
#[test]
fn a_thread_that_forgets_a_guard_and_ends_holds_nobody_back() {
    std::thread::spawn(|| std::mem::forget(slablab_rcu::pin())).join().unwrap();
    slablab_rcu::synchronize();
    let ticket = slablab_rcu::ticket();
    assert!(slablab_rcu::is_past(ticket));
}

/// A guard in a thread-local holds until the local's destructor has ended it.
#[test]
fn a_guard_of_a_thread_local_is_ended_by_its_destructor() {
    thread_local! {
        static KEPT: std::cell::RefCell<Option<Reading>> = const { std::cell::RefCell::new(None) };
    }
    struct Reading {
        _guard: slablab_rcu::Guard,
        ticket: slablab_rcu::Ticket,
    }
    impl Drop for Reading {
        fn drop(&mut self) {
            assert!(!slablab_rcu::is_past(self.ticket), "the section goes on");
        }
    }
    let keep = || {
        // This comes before the first section, so that the destructor runs after that of the section's
        // thread-local.
        KEPT.with(|kept| {
            let guard = slablab_rcu::pin();
            *kept.borrow_mut() = Some(Reading { _guard: guard, ticket: slablab_rcu::ticket() });
        });
    };
    std::thread::spawn(keep).join().unwrap();
    slablab_rcu::synchronize();
}
