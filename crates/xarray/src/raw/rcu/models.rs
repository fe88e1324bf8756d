//! Loom models: every interleaving of a reader with a writer that unlinks, retires and frees.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p slablab-xarray --lib --release`. The domain is the real one; its
//! barrier is the fence that readers use where `membarrier` is missing, since loom knows no system calls.
//! Nodes are real too, but "freeing" only notes the fact, so that a reader can ask.
//! The bucket's protocol is modelled by a copy of two slots: its memory is laid out by hand, and loom's atomics
//! cannot stand in it.

use std::cell::RefCell;

use loom::sync::Arc;
use loom::sync::atomic::{AtomicPtr, AtomicUsize, Ordering, fence};
use loom::thread;

use super::domain::{Domain, Limbo};
use crate::raw::{Bucket, Word};
use crate::{Entry, Gfp};

thread_local! {
    /// Nodes freed in this execution. (Loom's threads all run on one of the system's.)
    static FREED: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

pub(super) fn note_freed(word: Word) {
    FREED.with_borrow_mut(|freed| freed.push(word.bare().addr()));
}

fn is_freed(word: Word) -> bool {
    FREED.with_borrow(|freed| freed.contains(&word.bare().addr()))
}

fn node() -> Word {
    Bucket::create(0, 0, 1, Gfp::KERNEL).expect("memory")
}

fn load(head: &AtomicPtr<()>) -> Word {
    Word::from_entry(Entry::from_ptr(head.load(Ordering::Acquire)))
}

/// What a reader does: enter, load, look, leave.
fn read(domain: &Domain, head: &AtomicPtr<()>) {
    let record = domain.register(Domain::fence_barrier);
    domain.enter(record);
    fence(Ordering::SeqCst);
    let word = load(head);
    thread::yield_now();
    assert!(!is_freed(word), "freed under a reader");
    record.leave();
    domain.unregister(record);
}

/// Lets a reader look while the node it may look at is replaced, and `give_up` decides what becomes of it.
/// Returns the domain, the old node and the new one.
fn replace_beside_a_reader(give_up: impl FnOnce(&Domain, Word)) -> (Arc<Domain>, Word, Word) {
    FREED.take();
    let domain = Arc::new(Domain::new());
    let (old, new) = (node(), node());
    let head = Arc::new(AtomicPtr::new(old.entry().as_ptr()));
    let reader = {
        let (domain, head) = (Arc::clone(&domain), Arc::clone(&head));
        thread::spawn(move || read(&domain, &head))
    };
    head.store(new.entry().as_ptr(), Ordering::Release);
    give_up(&domain, old);
    reader.join().expect("no panic");
    (domain, old, new)
}

#[test]
fn a_retired_node_outlives_its_readers() {
    loom::model(|| {
        let (domain, old, new) = replace_beside_a_reader(|domain, old| {
            let mut limbo = Limbo::new();
            // SAFETY: unlinked.
            unsafe { limbo.push(old) };
            domain.defer(&mut limbo);
            for _ in 0..2 {
                domain.collect(Domain::fence_barrier);
            }
        });
        let ticket = domain.ticket();
        while !domain.is_done(ticket) {
            domain.collect(Domain::fence_barrier);
        }
        assert!(is_freed(old) && !is_freed(new));
    });
}

#[test]
fn a_thread_that_registers_is_not_overlooked() {
    loom::model(|| {
        replace_beside_a_reader(|domain, old| {
            fence(Ordering::SeqCst);
            if domain.is_solitary(0) {
                note_freed(old);
            }
        });
    });
}

/// Somebody else's collection may complete a ticket. When the ticket was read without publishing what its taker
/// had unlinked before, a reader of the next epoch could still find the node.
#[test]
fn a_ticket_that_another_thread_completes_covers_what_its_taker_unlinked() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        FREED.take();
        let domain = Arc::new(Domain::new());
        let (old, new) = (node(), node());
        let head = Arc::new(AtomicPtr::new(old.entry().as_ptr()));
        let writer = {
            let (domain, head) = (Arc::clone(&domain), Arc::clone(&head));
            thread::spawn(move || {
                head.store(new.entry().as_ptr(), Ordering::Release);
                let ticket = domain.ticket();
                if domain.is_done(ticket) || {
                    thread::yield_now();
                    domain.is_done(ticket)
                } {
                    note_freed(old);
                }
            })
        };
        let reader = {
            let (domain, head) = (Arc::clone(&domain), Arc::clone(&head));
            thread::spawn(move || read(&domain, &head))
        };
        domain.collect(Domain::fence_barrier);
        domain.collect(Domain::fence_barrier);
        writer.join().expect("no panic");
        reader.join().expect("no panic");
    });
}

/// Two keys and two slots of a bucket. Key 1 repeats key 0 until the entry beside it is there.
struct Lanes {
    keys: [AtomicUsize; 2],
    slots: [AtomicUsize; 2],
}

impl Lanes {
    fn find(&self, key: usize) -> usize {
        let keys = [0, 1].map(|i| self.keys[i].load(Ordering::Acquire));
        let number = keys.iter().position(|&found| found == key);
        number.map_or(0, |number| self.slots[number].load(Ordering::Acquire))
    }
}

#[test]
fn a_reader_never_gets_another_keys_entry() {
    loom::model(|| {
        let lanes = Arc::new(Lanes {
            keys: [5, 5].map(AtomicUsize::new),
            slots: [50, 0].map(AtomicUsize::new),
        });
        let writer = {
            let lanes = Arc::clone(&lanes);
            thread::spawn(move || {
                lanes.slots[1].store(60, Ordering::Release);
                lanes.keys[1].store(6, Ordering::Release);
                lanes.slots[0].store(0, Ordering::Release);
            })
        };
        assert!(matches!(lanes.find(5), 50 | 0));
        assert!(matches!(lanes.find(6), 60 | 0));
        writer.join().expect("no panic");
        assert_eq!((lanes.find(5), lanes.find(6)), (0, 60));
    });
}
