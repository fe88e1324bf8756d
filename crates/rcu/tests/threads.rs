//! The process-wide face with real threads and `membarrier(2)`: run under ThreadSanitizer and AddressSanitizer as well.
//!
//! All tests share the process's one domain, so each counts only what is its own.

use std::cell::Cell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use slablab_rcu::{Guard, Head, barrier, call, drop_later, pin, synchronize};

/// What readers find: all words are equal until it is freed.
struct Object([u64; 4]);

impl Drop for Object {
    fn drop(&mut self) {
        self.0 = [1, 2, 3, 4];
    }
}

struct Shared(AtomicPtr<Object>);

impl Shared {
    fn new() -> Self {
        Self(AtomicPtr::new(Box::into_raw(Box::new(Object([0; 4])))))
    }

    fn find<'g>(&'g self, _section: &'g Guard) -> &'g Object {
        // SAFETY: what was replaced is freed after its grace period.
        unsafe { &*self.0.load(Ordering::Acquire) }
    }

    fn replace(&self, n: u64) -> Box<Object> {
        let old = self.0.swap(Box::into_raw(Box::new(Object([n; 4]))), Ordering::AcqRel);
        // SAFETY: it came from a box, and is unlinked now.
        unsafe { Box::from_raw(old) }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        drop(self.replace(0));
        // SAFETY: nobody else has it.
        drop(unsafe { Box::from_raw(*self.0.get_mut()) });
    }
}

/// Three readers, sections now and then nested, beside two writers that free what they replace in this way.
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
        // Joined one by one: the end of a scope alone is no hand-over that ThreadSanitizer sees.
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

/// An object with a head, as C has them.
#[repr(C)]
struct Counted {
    head: Head,
    calls: *const AtomicUsize,
}

unsafe extern "C-unwind" fn count(head: *mut Head) {
    // SAFETY: the head is that of a box of this type, given up for this.
    let counted = unsafe { Box::from_raw(head.cast::<Counted>()) };
    // SAFETY: the counter outlives the barrier.
    unsafe { &*counted.calls }.fetch_add(1, Ordering::Relaxed);
}

fn call_counted(calls: &AtomicUsize) {
    let memory =
        Box::into_raw(Box::<std::mem::MaybeUninit<Counted>>::new_uninit()).cast::<Counted>();
    // SAFETY: within that memory.
    let place = unsafe { &raw mut (*memory).calls };
    // SAFETY: fresh memory of this type.
    unsafe { place.write(calls) };
    // SAFETY: the box is given up, and its function takes it.
    unsafe { call(NonNull::new(memory).expect("a box").cast(), count) };
}

#[test]
fn a_barrier_waits_for_all_calls_of_all_threads() {
    let (calls, deferred) = (AtomicUsize::new(0), AtomicUsize::new(0));
    // Somebody always reads, so that nothing is called at once.
    let (open, close) = (Barrier::new(2), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
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
    });
    barrier();
    assert_eq!(calls.into_inner(), 600);
}

/// Runs `f` while another thread is in a section, so that nothing is reclaimed at once.
fn beside_a_reader(f: impl FnOnce()) {
    let (entered, done) = (Barrier::new(2), Barrier::new(2));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let section = pin();
            entered.wait();
            done.wait();
            drop(section);
        });
        entered.wait();
        f();
        done.wait();
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
fn an_owner_that_panics_takes_no_other_with_it() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("on purpose");
        }
    }
    let owner = Arc::new(());
    beside_a_reader(|| {
        // Two batches and some.
        for _ in 0..150 {
            drop_later(Arc::clone(&owner));
        }
        drop_later(Panics);
        drop_later(Arc::clone(&owner));
    });
    // Whoever reclaims meets the panic: this thread, or one of another test's.
    while std::panic::catch_unwind(barrier).is_err() {}
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

#[test]
#[should_panic(expected = "nested read-side sections")]
fn sections_that_cannot_be_counted_are_refused() {
    let _sections: Vec<Guard> = (0..1 << 16).map(|_| pin()).collect();
}

/// A section may outlive the thread's own record keeping: it is kept in a thread-local that is dropped later.
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
    // What is touched last is dropped first, so the keeper goes after the record's owner.
    let keep = || KEEPER.with(|keeper| keeper.0.set(Some(pin())));
    std::thread::spawn(keep).join().expect("no panic");
    assert!(WAS_READING.load(Ordering::Relaxed));
    synchronize();
}
