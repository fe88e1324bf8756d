//! Which locks are taken while which others are held (check level 2): where they go round in a circle, threads can wait
//! for each other for ever, whether they did so this time or not.
//!
//! # How it works
//! Locks that one place initialises are of one class; one that none did is a class of its own. A thread's locks are a list
//! in the order in which it took them. Each lock that it takes makes an edge from the class of each one it holds; an edge
//! that closes a circle is reported, once. What is only tried cannot wait, and makes no edge as the later one. Two locks
//! of one class are a circle, too, unless the caller says by a subclass which is the inner one. Of each class it is known
//! whether interrupts, or soft ones, take it, and whether it is taken where they can come: a circle of one.
//!
//! # Lock order
//! The tables' lock is taken last.
//!
//! Linux counterpart: `kernel/locking/lockdep.c` @ 6.1.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{LazyLock, Mutex};

use crate::event::{Event, Misuse};
use crate::raw::bytes;
use crate::runtime::{lock, runtime};

/// A key, or the lock's own address; and the subclass.
type Class = (u64, u32);

/// How a lock is taken: `enum kapi_lock_how` in `include/linux/lockdep.h`, with the subclass in the low bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct How(pub(crate) u32);

impl How {
    fn subclass(self) -> u32 {
        self.0 & 0xff
    }

    /// Whether readers can take it again, and each other's.
    fn reads(self) -> bool {
        self.0 & 0x100 != 0
    }

    /// Whether another lock keeps apart those that take several of the class.
    fn is_nested(self) -> bool {
        self.0 & 0x200 != 0
    }
}

/// What the caller's interrupts are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Irqs {
    /// It is the handler of one.
    Handler,
    /// It is a timer, a tasklet or a callback.
    SoftHandler,
    /// They can come.
    On,
    /// Hard interrupts can come, and soft ones cannot.
    SoftOff,
    Off,
}

/// A lock that a thread holds, and where it took it.
#[derive(Debug, Clone, Copy)]
struct Held {
    lock: u64,
    class: Class,
    reads: bool,
    site: u64,
}

/// That a class is waited for with another held.
#[derive(Debug, Clone, Copy)]
struct Edge {
    to: Class,
    holds_reading: bool,
    waits_reading: bool,
    site: u64,
}

#[derive(Debug, Default)]
struct Tables {
    /// Of locks that were initialised, by address.
    classes: BTreeMap<u64, Class>,
    names: HashMap<u64, String>,
    edges: HashMap<Class, Vec<Edge>>,
    told: HashSet<(Class, Class)>,
    /// Where a class is taken, by what the interrupts are and whether it is for reading.
    uses: HashMap<Class, [Option<u64>; 8]>,
}

thread_local! {
    static HELD: RefCell<Vec<Held>> = const { RefCell::new(Vec::new()) };
}

static TABLES: LazyLock<Mutex<Tables>> = LazyLock::new(Mutex::default);

/// Whether the caller may wait for the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    May,
    /// It was tried, and is taken.
    Never,
}

fn is_checked() -> bool {
    runtime().job.check >= 2
}

/// Enters the class of a lock; a key of 0 is the lock's own.
pub(crate) fn set_class(address: u64, key: u64, name: u64, subclass: u32) {
    if !is_checked() {
        return;
    }
    let name = bytes::string(name, 64).unwrap_or_default();
    let mut tables = lock(&TABLES);
    if key == 0 {
        let (key, _) = tables.class_of(address, How(0));
        tables.classes.insert(address, (key, subclass));
        return;
    }
    tables.names.entry(key).or_insert_with(|| String::from_utf8_lossy(&name).into_owned());
    tables.classes.insert(address, (key, subclass));
}

/// Enters that this thread is about to wait for a lock.
pub(crate) fn wants(address: u64, how: How, site: u64) {
    if !is_checked() {
        return;
    }
    let held = HELD.with_borrow(Clone::clone);
    let found = {
        let mut tables = lock(&TABLES);
        let class = tables.class_of(address, how);
        let later = Held { lock: address, class, reads: how.reads(), site };
        let told = |earlier: &Held| match earlier.lock == later.lock {
            true => Some((Misuse::LockTwice, tables.twice(*earlier, later)?)),
            false => Some((Misuse::LockOrder, tables.meets(*earlier, later, how)?)),
        };
        held.iter().filter_map(told).collect::<Vec<_>>()
    };
    found.into_iter().for_each(|(kind, detail)| tell(kind, detail, site));
}

/// Enters that this thread takes a lock.
pub(crate) fn takes(address: u64, how: How, site: u64, wait: Wait) {
    if !is_checked() {
        return;
    }
    if wait == Wait::May {
        wants(address, how, site);
    }
    let class = lock(&TABLES).class_of(address, how);
    HELD.with_borrow_mut(|held| {
        held.push(Held { lock: address, class, reads: how.reads(), site });
    });
}

/// Enters that a spinlock is taken where interrupts are as told.
pub(crate) fn uses(address: u64, how: How, site: u64, irqs: Irqs) {
    if !is_checked() {
        return;
    }
    let found = lock(&TABLES).used(address, how, site, irqs);
    found.into_iter().for_each(|detail| tell(Misuse::LockOrder, detail, site));
}

/// Enters that this thread gives a lock up.
pub(crate) fn gives(address: u64) {
    if !is_checked() {
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

/// Forgets the locks in memory that is freed; returns whether this thread holds one of them.
pub(crate) fn forget(start: u64, bytes: u64) -> bool {
    let inside = |lock: u64| lock.wrapping_sub(start) < bytes;
    let end = start.saturating_add(bytes);
    let mut tables = lock(&TABLES);
    let initialised: Vec<_> = tables.classes.range(start..end).map(|(&lock, _)| lock).collect();
    for address in initialised {
        tables.classes.remove(&address);
    }
    if tables.edges.keys().any(|&(key, _)| inside(key)) {
        tables.edges.retain(|&(key, _), _| !inside(key));
    }
    tables.uses.retain(|&(key, _), _| !inside(key));
    drop(tables);
    HELD.with_borrow_mut(|held| {
        let before = held.len();
        held.retain(|held| !inside(held.lock));
        before > held.len()
    })
}

fn tell(kind: Misuse, detail: String, site: u64) {
    let runtime = runtime();
    let site = Some(runtime.offset(site));
    runtime.emit(&Event::Finding { kind, detail, count: 1, block: None, site });
}

impl Tables {
    fn class_of(&self, address: u64, how: How) -> Class {
        let (key, subclass) = self.classes.get(&address).copied().unwrap_or((address, 0));
        (key, subclass + how.subclass())
    }

    fn name(&self, (key, subclass): Class) -> String {
        let name = match self.names.get(&key) {
            Some(name) => format!("`{name}`"),
            None => runtime().variable(key),
        };
        if subclass == 0 { name } else { format!("{name} of subclass {subclass}") }
    }

    /// Says that a lock is waited for by the thread that holds it, unless both times are for reading.
    fn twice(&self, earlier: Held, later: Held) -> Option<String> {
        let (name, since) = (self.name(later.class), runtime().since(earlier.site));
        let both_read = earlier.reads && later.reads;
        (!both_read).then(|| format!("lock {name} is taken by the thread that holds it{since}"))
    }

    /// Enters that a lock is waited for with another held; returns what is wrong with that.
    fn meets(&mut self, earlier: Held, later: Held, how: How) -> Option<String> {
        let (runtime, both_read) = (runtime(), earlier.reads && later.reads);
        let since = runtime.since(earlier.site);
        let name = self.name(later.class);
        if earlier.class == later.class {
            let is_first =
                !how.is_nested() && !both_read && self.told.insert((earlier.class, later.class));
            return is_first
                .then(|| format!("lock {name} is taken with another of its class held{since}"));
        }
        let edge = Edge {
            to: later.class,
            holds_reading: earlier.reads,
            waits_reading: later.reads,
            site: later.site,
        };
        if !self.enter(earlier.class, edge) {
            return None;
        }
        let circle = self.path(edge, earlier.class)?;
        if !self.told.insert((earlier.class.min(later.class), earlier.class.max(later.class))) {
            return None;
        }
        let held = self.name(earlier.class);
        let at = |site| runtime.since(site).replacen("since", "at", 1);
        let other = match &circle[..] {
            [(_, only)] => format!("and in the other order{}", at(only.site)),
            all => {
                let step = |(from, edge): &(Class, Edge)| {
                    let (from, to) = (self.name(*from), self.name(edge.to));
                    format!("lock {to} with lock {from} held{}", at(edge.site))
                };
                format!("and elsewhere {}", all.iter().map(step).collect::<Vec<_>>().join(", "))
            }
        };
        Some(format!("lock {name} is taken with lock {held} held{since}, {other}"))
    }

    /// Enters an edge; false if there is one like it.
    fn enter(&mut self, from: Class, edge: Edge) -> bool {
        let edges = self.edges.entry(from).or_default();
        let same = |other: &Edge| {
            (other.to, other.holds_reading, other.waits_reading)
                == (edge.to, edge.holds_reading, edge.waits_reading)
        };
        let is_new = !edges.iter().any(same);
        if is_new {
            edges.push(edge);
        }
        is_new
    }

    /// Returns the shortest way from an edge's end back to where it begins, on which somebody waits at each class: readers
    /// do not wait for readers.
    fn path(&self, first: Edge, back: Class) -> Option<Vec<(Class, Edge)>> {
        let mut ways = vec![(first, Vec::new())];
        let mut seen = HashSet::from([(first.to, first.waits_reading)]);
        while !ways.is_empty() {
            let mut longer = Vec::new();
            for (last, way) in ways {
                let waited = |edge: &&Edge| !(last.waits_reading && edge.holds_reading);
                for edge in self.edges.get(&last.to).into_iter().flatten().filter(waited) {
                    let mut way: Vec<(Class, Edge)> = way.clone();
                    way.push((last.to, *edge));
                    if edge.to == back && !(edge.waits_reading && first.holds_reading) {
                        return Some(way);
                    }
                    if seen.insert((edge.to, edge.waits_reading)) {
                        longer.push((*edge, way));
                    }
                }
            }
            ways = longer;
        }
        None
    }

    fn used(&mut self, address: u64, how: How, site: u64, irqs: Irqs) -> Option<String> {
        let class = self.class_of(address, how);
        let place = |irqs| match irqs {
            Irqs::Handler => Some(0),
            Irqs::SoftHandler => Some(2),
            Irqs::On => Some(4),
            Irqs::SoftOff => Some(6),
            Irqs::Off => None,
        };
        let reading = usize::from(how.reads());
        let at = place(irqs)? + reading;
        let uses = self.uses.entry(class).or_default();
        if uses[at].is_some() {
            return None;
        }
        uses[at] = Some(site);
        // Whom the use can meet: the first two where they come, the others where they are.
        let others: &[usize] = match irqs {
            Irqs::Handler => &[4, 6, 2],
            Irqs::SoftHandler => &[4, 0],
            Irqs::On => &[0, 2],
            _ => &[0],
        };
        // Readers do not wait for readers.
        let of = |other: usize| uses[other].or(if reading == 0 { uses[other + 1] } else { None });
        let (other, there) = others.iter().find_map(|&other| Some((other, of(other)?)))?;
        if !self.told.insert((class, class)) {
            return None;
        }
        let there = runtime().since(there).replacen("since", "at", 1);
        let words = |at: usize| match at / 2 {
            0 => "in the handler of an interrupt",
            1 => "in a timer, tasklet or RCU callback",
            2 => "with interrupts enabled",
            _ => "with soft interrupts disabled only",
        };
        let name = self.name(class);
        Some(format!("lock {name} is taken {}, and {}{there}", words(at), words(other)))
    }
}
