//! The memory cgroups of a recorded machine's threads, over time.
//!
//! # How it works
//! [`Running`] is what `/proc` says when a recording begins. After that a new thread is in its parent's cgroup, and one that is
//! attached to another is there with all threads of its process: the kernel's events tell both
//! ([`CgroupChange`]). So threads that live for a millisecond are known too. A thread that begins in a cgroup of its parent's
//! choice (`CLONE_INTO_CGROUP`) makes no event: it is not known where that is, unless `/proc` has it when the recording ends.
//!
//! # Invariants
//! [`Cgroups::moves`] are in the order of their times. A thread is in no known cgroup before its first move.
//!
//! Linux counterpart: `cgroup_post_fork` and `cgroup_attach_task` of `kernel/cgroup/cgroup.c` @ 6.18.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::vec::IntoIter;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::event::NONE;

/// Bits of a new thread's `clone_flags`, as in `include/uapi/linux/sched.h` @ 6.18.
const CLONE_THREAD: u64 = 0x1_0000;
const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

/// The memory cgroups of threads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cgroups {
    /// Paths below the mount of the memory controller; `/` is the root.
    pub names: Vec<String>,
    /// Where threads went, the earliest first.
    pub moves: Vec<Move>,
}

/// From a time on (of the trace's clock) a thread is in a cgroup: a place in [`Cgroups::names`], or [`NONE`] where it is not
/// known in which.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move(pub u64, pub u32, pub u32);

/// The threads that `/proc` has, with their processes and cgroups.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Running {
    /// The number of the hierarchy that has the memory controller, 0 in version 2; `None` where there is none
    pub(crate) hierarchy: Option<i32>,
    /// By thread, its process and its path
    pub(crate) threads: BTreeMap<u32, (u32, String)>,
}

/// What an event says of a thread's cgroup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CgroupChange {
    /// A thread began
    Fork {
        /// Who made it
        parent: u32,
        /// Its number
        child: u32,
        /// Its `clone_flags`
        flags: u64,
    },
    /// A thread went into a cgroup of some hierarchy
    Attach {
        /// Its number
        thread: u32,
        /// The number of the hierarchy
        hierarchy: i32,
        /// The path
        path: String,
    },
}

impl Cgroups {
    /// Follows the threads that there were through `changes`, which have their times and come in any order; `end` is what
    /// `/proc` said at the end, for threads of which nothing else tells.
    pub(crate) fn follow(
        start: &Running,
        mut changes: Vec<(u64, CgroupChange)>,
        end: &Running,
    ) -> Self {
        let Some(hierarchy) = start.hierarchy else { return Self::default() };
        changes.sort_by_key(|(time_ns, _)| *time_ns);
        let mut following = Following::default();
        // The idle threads are in no list, and in the root.
        following.to(0, 0, "/");
        for (thread, (process, path)) in &start.threads {
            following.belongs(*thread, *process);
            following.to(0, *thread, path);
        }
        for (time_ns, change) in changes {
            match change {
                CgroupChange::Fork { parent, child, flags } => {
                    following.fork(time_ns, parent, child, flags);
                }
                CgroupChange::Attach { thread, hierarchy: of, path } if of == hierarchy => {
                    following.attach(time_ns, thread, &path);
                }
                CgroupChange::Attach { .. } => {}
            }
        }
        following.end(end)
    }

    /// Returns whether nothing is known of any thread.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }
}

/// Where threads are, as time goes on.
#[derive(Debug, Clone)]
pub struct CgroupCursor {
    moves: Peekable<IntoIter<Move>>,
    now: FxHashMap<u32, u32>,
}

impl CgroupCursor {
    /// Begins before the first move.
    #[must_use]
    pub fn new(cgroups: &Cgroups) -> Self {
        Self { moves: cgroups.moves.clone().into_iter().peekable(), now: FxHashMap::default() }
    }

    /// Returns the place in [`Cgroups::names`] of the cgroup that a thread is in, if that is known. Times never decrease from
    /// call to call; places of a damaged trace may be beyond the names.
    #[inline]
    pub fn at(&mut self, time_ns: u64, thread: u32) -> Option<u32> {
        while let Some(Move(_, moved, place)) = self.moves.next_if(|at| at.0 <= time_ns) {
            self.now.insert(moved, place);
        }
        self.now.get(&thread).copied().filter(|place| *place != NONE)
    }
}

/// Threads that are followed.
#[derive(Default)]
struct Following {
    cgroups: Cgroups,
    places: BTreeMap<String, u32>,
    /// By thread, its cgroup now
    now: BTreeMap<u32, u32>,
    /// By thread that is not the first of its process, the process; and by process, these threads
    processes: BTreeMap<u32, u32>,
    others: BTreeMap<u32, Vec<u32>>,
}

impl Following {
    fn place(&mut self, path: &str) -> u32 {
        if let Some(place) = self.places.get(path) {
            return *place;
        }
        let place = self.cgroups.names.len() as u32;
        self.cgroups.names.push(path.to_owned());
        self.places.insert(path.to_owned(), place);
        place
    }

    fn to(&mut self, time_ns: u64, thread: u32, path: &str) {
        let place = self.place(path);
        self.go(time_ns, thread, place);
    }

    fn go(&mut self, time_ns: u64, thread: u32, place: u32) {
        if self.now.insert(thread, place) != Some(place) {
            self.cgroups.moves.push(Move(time_ns, thread, place));
        }
    }

    /// Notes that a thread is of a process. Numbers are used again: it may have been of another.
    fn belongs(&mut self, thread: u32, process: u32) {
        if let Some(before) = self.processes.remove(&thread) {
            self.others.entry(before).or_default().retain(|other| *other != thread);
        }
        if thread != process {
            self.processes.insert(thread, process);
            self.others.entry(process).or_default().push(thread);
        } else {
            self.others.remove(&thread);
        }
    }

    fn fork(&mut self, time_ns: u64, parent: u32, child: u32, flags: u64) {
        let process = match flags & CLONE_THREAD {
            0 => child,
            _ => self.processes.get(&parent).copied().unwrap_or(parent),
        };
        self.belongs(child, process);
        let place = match flags & CLONE_INTO_CGROUP {
            0 => self.now.get(&parent).copied().unwrap_or(NONE),
            _ => NONE,
        };
        self.go(time_ns, child, place);
    }

    fn attach(&mut self, time_ns: u64, thread: u32, path: &str) {
        let place = self.place(path);
        self.go(time_ns, thread, place);
        // The event is of the process's first thread, which takes along the others; one that is not first goes alone.
        for other in self.others.get(&thread).cloned().unwrap_or_default() {
            self.go(time_ns, other, place);
        }
    }

    /// Fills in where threads were that `/proc` alone tells about.
    fn end(mut self, end: &Running) -> Cgroups {
        let mut moves = std::mem::take(&mut self.cgroups.moves);
        for (thread, (_, path)) in &end.threads {
            match self.now.get(thread) {
                None => {
                    let place = self.place(path);
                    moves.push(Move(0, *thread, place));
                }
                Some(&NONE) => {
                    let place = self.place(path);
                    let unknown = moves.iter_mut().rfind(|at| at.1 == *thread && at.2 == NONE);
                    unknown.into_iter().for_each(|at| at.2 = place);
                }
                Some(_) => {}
            }
        }
        moves.sort_by_key(|Move(time_ns, ..)| *time_ns);
        Cgroups { moves, ..self.cgroups }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(threads: &[(u32, u32, &str)]) -> Running {
        let threads = threads.iter().map(|(thread, of, path)| (*thread, (*of, (*path).to_owned())));
        Running { hierarchy: Some(0), threads: threads.collect() }
    }

    fn fork(parent: u32, child: u32, flags: u64) -> CgroupChange {
        CgroupChange::Fork { parent, child, flags }
    }

    fn attach(thread: u32, hierarchy: i32, path: &str) -> CgroupChange {
        CgroupChange::Attach { thread, hierarchy, path: path.to_owned() }
    }

    #[test]
    fn children_are_where_their_parents_are_and_a_process_moves_with_its_threads() {
        let start = running(&[(1, 1, "/"), (9, 9, "/job")]);
        let changes = vec![
            (30, attach(5, 0, "/late")),
            (10, fork(1, 5, 0)),
            (20, fork(5, 6, CLONE_THREAD)),
            (40, fork(6, 7, 0)),
            (40, attach(9, 3, "/of/another/hierarchy")),
        ];
        let cgroups = Cgroups::follow(&start, changes, &Running::default());
        let of = |thread: u32| -> Vec<(u64, &str)> {
            let own = cgroups.moves.iter().filter(|at| at.1 == thread);
            own.map(|at| (at.0, cgroups.names[at.2 as usize].as_str())).collect()
        };
        assert_eq!(of(5), [(10, "/"), (30, "/late")]);
        assert_eq!(of(6), [(20, "/"), (30, "/late")]);
        assert_eq!(of(7), [(40, "/late")]);
        assert_eq!(of(9), [(0, "/job")]);
    }

    #[test]
    fn a_thread_is_where_its_last_move_led() {
        let names = vec!["/".to_owned(), "/job".to_owned()];
        let cgroups =
            Cgroups { names, moves: vec![Move(0, 7, 0), Move(10, 7, 1), Move(20, 7, NONE)] };
        let mut cursor = CgroupCursor::new(&cgroups);
        let places = [5, 10, 19, 20].map(|time_ns| cursor.at(time_ns, 7));
        assert_eq!(places, [Some(0), Some(1), Some(1), None]);
        assert_eq!(cursor.at(30, 8), None);
    }

    #[test]
    fn where_nothing_tells_is_not_known_unless_proc_has_it_in_the_end() {
        let start = running(&[(1, 1, "/")]);
        let changes = vec![
            (5, fork(1, 2, CLONE_INTO_CGROUP)),
            (6, fork(1, 3, CLONE_INTO_CGROUP)),
            (7, fork(77, 78, 0)),
        ];
        let end = running(&[(2, 2, "/unit"), (4, 4, "/seen/late")]);
        let cgroups = Cgroups::follow(&start, changes, &end);
        let last = |thread: u32| cgroups.moves.iter().rfind(|at| at.1 == thread).unwrap().2;
        assert_eq!(cgroups.names[last(2) as usize], "/unit");
        assert_eq!((last(3), last(78)), (NONE, NONE));
        assert_eq!(cgroups.names[last(4) as usize], "/seen/late");
        assert!(Cgroups::follow(&Running::default(), Vec::new(), &end).is_empty());
    }
}
