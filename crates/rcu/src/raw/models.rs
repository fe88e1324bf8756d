//! Loom models of the real domain and the real queue: every interleaving, with a check for races on the memory
//! itself.
//!
//! `make test-rcu` runs them. Both barriers are fences here, as where `membarrier` is missing, because loom
//! knows no system calls. Objects are never freed; a write that loom checks against all reads stands for freeing
//! them.

use std::cell::RefCell;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicPtr, Ordering, fence};
use loom::thread;

use super::domain::Domain;
use super::queue::{Chain, Queue, Reclaim};
use crate::Ticket;

/// Something that readers find. Its content is 1 until it is reclaimed.
struct Object {
    content: UnsafeCell<usize>,
    link: std::sync::atomic::AtomicPtr<()>,
}

#[derive(Clone, Copy)]
struct Name(*mut Object);

/// SAFETY: objects are leaked; the models keep to one reclamation each.
unsafe impl Send for Name {}

/// SAFETY: as above.
unsafe impl Reclaim for Name {
    fn into_raw(self) -> *mut () {
        self.0.cast()
    }

    unsafe fn from_raw(raw: *mut ()) -> Self {
        Self(raw.cast())
    }

    unsafe fn link<'a>(self) -> &'a std::sync::atomic::AtomicPtr<()> {
        // SAFETY: objects are leaked.
        unsafe { &(*self.0).link }
    }

    unsafe fn reclaim(self) {
        // SAFETY: objects are leaked.
        let object = unsafe { &*self.0 };
        object.content.with_mut(|content| {
            // SAFETY: loom reports it when another thread looks at it.
            let content = unsafe { &mut *content };
            assert_eq!(*content, 1, "reclaimed twice");
            *content = 0;
        });
    }
}

impl Name {
    fn new() -> Self {
        let content = UnsafeCell::new(1);
        Self(Box::into_raw(Box::new(Object { content, link: Default::default() })))
    }

    fn chain(self) -> Chain<Self> {
        let mut chain = Chain::new();
        // SAFETY: in no other list.
        unsafe { chain.push(self) };
        chain
    }

    fn is_reclaimed(self) -> bool {
        // SAFETY: objects are leaked, and loom reports it when another thread writes.
        unsafe { (*self.0).content.with(|content| *content == 0) }
    }
}

/// A domain, a queue, and a place where readers find an object.
struct World {
    domain: Domain,
    queue: Queue<Name>,
    head: AtomicPtr<Object>,
}

impl World {
    fn new() -> (Arc<Self>, Name) {
        let old = Name::new();
        let domain = Domain::new(|| fence(Ordering::SeqCst));
        (Arc::new(Self { domain, queue: Queue::new(1), head: AtomicPtr::new(old.0) }), old)
    }

    /// Looks at the present object, in a section.
    fn read(&self) {
        let reader = self.domain.register();
        self.look(reader);
        self.domain.unregister(reader);
    }

    fn look(&self, reader: &super::domain::Reader) {
        self.domain.enter(reader);
        fence(Ordering::SeqCst);
        let found = Name(self.head.load(Ordering::Acquire));
        assert!(!found.is_reclaimed(), "reclaimed under a reader");
        reader.leave();
    }

    fn unlink(&self) {
        self.head.store(Name::new().0, Ordering::Release);
    }
}

fn spawn(world: &Arc<World>, f: impl FnOnce(&World) + 'static) -> thread::JoinHandle<()> {
    let world = Arc::clone(world);
    thread::spawn(move || f(&world))
}

fn check(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

fn join(threads: impl IntoIterator<Item = thread::JoinHandle<()>>) {
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
}

#[test]
fn waiting_outlasts_every_reader() {
    check(4, || {
        let (world, old) = World::new();
        let reader = spawn(&world, World::read);
        world.unlink();
        world.domain.synchronize();
        // SAFETY: unlinked, and the wait is over.
        unsafe { old.reclaim() };
        join([reader]);
    });
}

/// A section that begins while another thread waits must not hide whether the previous one has ended.
#[test]
fn waiting_outlasts_a_reader_that_comes_back() {
    check(3, || {
        let (world, old) = World::new();
        let reader = spawn(&world, |world| {
            let reader = world.domain.register();
            world.look(reader);
            world.look(reader);
        });
        world.unlink();
        world.domain.synchronize();
        // SAFETY: unlinked, and the wait is over.
        unsafe { old.reclaim() };
        join([reader]);
    });
}

#[test]
fn a_nested_section_lasts_as_long_as_the_outermost() {
    check(3, || {
        let (world, old) = World::new();
        let reader = spawn(&world, |world| {
            let reader = world.domain.register();
            world.domain.enter(reader);
            fence(Ordering::SeqCst);
            let found = Name(world.head.load(Ordering::Acquire));
            world.domain.enter(reader);
            reader.leave();
            assert!(!found.is_reclaimed(), "reclaimed under a reader");
            reader.leave();
        });
        world.unlink();
        world.domain.synchronize();
        // SAFETY: unlinked, and the wait is over.
        unsafe { old.reclaim() };
        join([reader]);
    });
}

/// When taking a ticket was a plain load of the epoch, it published nothing: another thread could advance the epoch, and
/// a reader of the new one could still find the object, while its record was past the ticket.
#[test]
fn a_ticket_publishes_what_its_taker_unlinked() {
    check(3, || {
        let (world, old) = World::new();
        let writer = spawn(&world, move |world| {
            world.unlink();
            let ticket = world.domain.ticket();
            thread::yield_now();
            if world.domain.is_past(ticket) {
                // SAFETY: unlinked, and past.
                unsafe { old.reclaim() };
            }
        });
        let reader = spawn(&world, World::read);
        world.domain.ticket();
        join([writer, reader]);
    });
}

#[test]
fn what_is_retired_outlives_its_readers_and_is_reclaimed_once() {
    check(3, || {
        let (world, old) = World::new();
        let reader = spawn(&world, World::read);
        world.unlink();
        assert!(world.queue.defer(&mut old.chain()));
        world.queue.collect(&world.domain);
        world.queue.collect(&world.domain);
        join([reader]);
        world.queue.drain(&world.domain);
        assert!(old.is_reclaimed());
    });
}

/// Two threads retire and collect; a third waits for all that it had retired before.
#[test]
fn a_drained_queue_has_reclaimed_all_that_was_retired_before() {
    check(3, || {
        let (world, old) = World::new();
        world.unlink();
        let other = spawn(&world, |world| {
            world.queue.defer(&mut Name::new().chain());
            world.queue.collect(&world.domain);
        });
        world.queue.defer(&mut old.chain());
        world.queue.collect(&world.domain);
        world.queue.drain(&world.domain);
        assert!(old.is_reclaimed());
        join([other]);
    });
}

#[test]
fn two_that_drain_do_not_get_in_each_others_way() {
    check(3, || {
        let (world, old) = World::new();
        let other = spawn(&world, move |world| {
            let young = Name::new();
            world.queue.defer(&mut young.chain());
            world.queue.drain(&world.domain);
            assert!(young.is_reclaimed());
        });
        world.unlink();
        world.queue.defer(&mut old.chain());
        world.queue.drain(&world.domain);
        assert!(old.is_reclaimed());
        join([other]);
    });
}

/// A function defers another one, and collects, while its own batch is being called.
#[test]
fn a_reclaimed_object_may_retire_another() {
    #[derive(Clone, Copy)]
    struct Retires(Name);

    thread_local!(static WORLD: RefCell<Option<Arc<(Domain, Queue<Retires>)>>> = const { RefCell::new(None) });

    /// SAFETY: as for `Name`.
    unsafe impl Reclaim for Retires {
        fn into_raw(self) -> *mut () {
            self.0.into_raw()
        }

        unsafe fn from_raw(raw: *mut ()) -> Self {
            // SAFETY: as the caller promises.
            Self(unsafe { Name::from_raw(raw) })
        }

        unsafe fn link<'a>(self) -> &'a std::sync::atomic::AtomicPtr<()> {
            // SAFETY: as the caller promises.
            unsafe { self.0.link() }
        }

        unsafe fn reclaim(self) {
            // SAFETY: as the caller promises.
            unsafe { self.0.reclaim() };
            if let Some(world) = WORLD.take() {
                world.1.defer(&mut Self::chain());
                world.1.collect(&world.0);
            }
        }
    }

    impl Retires {
        fn chain() -> Chain<Self> {
            let mut chain = Chain::new();
            // SAFETY: in no other list.
            unsafe { chain.push(Self(Name::new())) };
            chain
        }
    }

    check(2, || {
        let world = Arc::new((Domain::new(|| fence(Ordering::SeqCst)), Queue::new(1)));
        WORLD.set(Some(Arc::clone(&world)));
        world.1.defer(&mut Retires::chain());
        let other = thread::spawn({
            let world = Arc::clone(&world);
            move || {
                world.1.collect(&world.0);
            }
        });
        world.1.drain(&world.0);
        world.1.drain(&world.0);
        join([other]);
        WORLD.take();
    });
}

#[test]
fn a_thread_that_registers_is_not_overlooked() {
    check(4, || {
        let (world, old) = World::new();
        let reader = spawn(&world, World::read);
        world.unlink();
        fence(Ordering::SeqCst);
        if world.domain.is_solitary(0) {
            // SAFETY: unlinked, and no thread reads.
            unsafe { old.reclaim() };
        }
        join([reader]);
    });
}

/// A record that another thread left is taken once, and its old owner's sections count.
#[test]
fn records_are_handed_on() {
    check(3, || {
        let (world, old) = World::new();
        let first = spawn(&world, World::read);
        let second = spawn(&world, World::read);
        world.unlink();
        let ticket = world.domain.ticket();
        assert!(ticket > Ticket::FIRST);
        if world.domain.is_past(ticket) {
            // SAFETY: unlinked, and past.
            unsafe { old.reclaim() };
        }
        join([first, second]);
    });
}
