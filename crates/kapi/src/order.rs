//! Which locks are taken while which others are held (check level 2): two that are taken in both orders can wait for
//! each other for ever, whether they did so this time or not.
//!
//! # How it works
//! A thread's locks are a list in the order in which it took them. Each lock that it takes makes a pair with each one it
//! holds; a pair whose mirror image was seen is reported, once. A lock is its address, so that pairs go with the memory
//! they lie in. What is only tried cannot wait, and makes no pair as the later one.
//!
//! # Lock order
//! The table's lock is taken last.
//!
//! Linux counterpart: `kernel/locking/lockdep.c` @ 6.1. Differences: a lock's class is the lock itself, and contexts
//! (interrupts, soft interrupts) are not looked at.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, Mutex};

use crate::event::{Event, Misuse};
use crate::runtime::{lock, runtime};

/// A lock that a thread holds, and where it took it.
#[derive(Debug, Clone, Copy)]
struct Held {
    lock: u64,
    site: u64,
}

/// The pairs that were seen: the earlier lock and the later one, and where the later one was taken.
#[derive(Debug, Default)]
struct Pairs {
    seen: HashMap<(u64, u64), u64>,
    told: HashSet<(u64, u64)>,
}

thread_local! {
    static HELD: RefCell<Vec<Held>> = const { RefCell::new(Vec::new()) };
}

static PAIRS: LazyLock<Mutex<Pairs>> = LazyLock::new(Mutex::default);

/// Whether the caller may wait for the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    May,
    /// It was tried, and is taken.
    Never,
}

/// Enters that this thread is about to wait for a lock.
pub(crate) fn wants(address: u64, site: u64) {
    if runtime().job.check >= 2 {
        HELD.with_borrow(|held| {
            held.iter().for_each(|earlier| pair(*earlier, Held { lock: address, site }));
        });
    }
}

/// Enters that this thread takes a lock.
pub(crate) fn takes(address: u64, site: u64, wait: Wait) {
    if runtime().job.check < 2 {
        return;
    }
    if wait == Wait::May {
        wants(address, site);
    }
    HELD.with_borrow_mut(|held| held.push(Held { lock: address, site }));
}

/// Enters that this thread gives a lock up.
pub(crate) fn gives(address: u64) {
    if runtime().job.check < 2 {
        return;
    }
    HELD.with_borrow_mut(|held| {
        if let Some(at) = held.iter().rposition(|held| held.lock == address) {
            held.remove(at);
        }
    });
}

/// Forgets what this thread holds: it was told that a function of the module returned with it.
pub(crate) fn returned() {
    HELD.with_borrow_mut(Vec::clear);
}

/// Forgets the locks in memory that is freed.
pub(crate) fn forget(start: u64, bytes: u64) {
    let inside = |lock: u64| lock.wrapping_sub(start) < bytes;
    let mut pairs = lock(&PAIRS);
    pairs.seen.retain(|&(a, b), _| !inside(a) && !inside(b));
    pairs.told.retain(|&(a, b)| !inside(a) && !inside(b));
}

fn pair(earlier: Held, later: Held) {
    let (a, b) = (earlier.lock, later.lock);
    if a == b {
        return;
    }
    let mut pairs = lock(&PAIRS);
    pairs.seen.entry((a, b)).or_insert(later.site);
    let Some(&mirrored) = pairs.seen.get(&(b, a)) else { return };
    if !pairs.told.insert((a.min(b), a.max(b))) {
        return;
    }
    drop(pairs);
    let runtime = runtime();
    let detail = format!(
        "lock {} is taken with lock {} held{}, and in the other order{}",
        runtime.variable(b),
        runtime.variable(a),
        runtime.since(earlier.site),
        runtime.since(mirrored).replacen("since", "at", 1),
    );
    let site = Some(runtime.offset(later.site));
    runtime.emit(&Event::Finding { kind: Misuse::LockOrder, detail, count: 1, block: None, site });
}
