//! The processes of a group: which of them still run, and whether their objects say something.
//!
//! How it works: what a process keeps is freed when it ends. So where a program has several processes, objects of those that
//! began during the hunt and still run tell nothing yet. Objects of ended processes do, those of processes that are older than
//! the hunt, and those of a program that has one process alone.
//!
//! Linux counterpart: `/proc/PID/stat`, `fs/proc/array.c` @ 6.18.

use std::fs;

use crate::group::Group;

/// Clock ticks in a second, as /proc has them on every architecture that is hunted.
pub(crate) const CLOCK_HZ: u64 = 100;
/// Share of the objects that has to say something.
const EVIDENCE_MIN: f64 = 0.5;

/// Whether a process still runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Process {
    /// It is gone, or its number is another process's now
    Ended,
    /// It runs, and began these clock ticks after the machine did
    Runs(u64),
}

impl Process {
    /// Looks at a process that allocated at these clock ticks. It may have another name by now.
    pub(crate) fn look(id: u32, allocated: u64) -> Self {
        let stat = fs::read(format!("/proc/{id}/stat")).unwrap_or_default();
        Self::parse(&String::from_utf8_lossy(&stat), allocated).unwrap_or(Self::Ended)
    }

    fn parse(stat: &str, allocated: u64) -> Option<Self> {
        // A name may have brackets and blanks in it; what follows the last bracket has none.
        let (_, rest) = stat.rsplit_once(") ")?;
        let mut rest = rest.split(' ');
        let is_dead = matches!(rest.next()?, "Z" | "X");
        // The fields from the third on: the start is the 22nd.
        let start: u64 = rest.nth(18)?.parse().ok()?;
        // One that began later has the number of one that ended.
        Some(if is_dead || start > allocated + 1 { Self::Ended } else { Self::Runs(start) })
    }
}

/// Tells whether what a group's processes keep says something, in a hunt that began at `start` clock ticks.
pub(crate) fn has_evidence(group: &Group, processes: &[(u32, Process)], start: u64) -> bool {
    let says = |process: &Process| match process {
        Process::Ended => true,
        Process::Runs(began) => *began <= start,
    };
    let objects = |id: &u32| group.processes.get(id).copied().unwrap_or_default();
    let all: f64 = processes.iter().map(|(id, _)| objects(id)).sum();
    let told = processes.iter().filter(|(_, process)| says(process));
    let told: f64 = told.map(|(id, _)| objects(id)).sum();
    processes.len() == 1 || told >= all * EVIDENCE_MIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_start_whatever_its_name_is_now() {
        let stat = |state| {
            format!("7 (a) b) {state} 1 7 7 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 4242 1 1 1")
        };
        assert_eq!(Process::parse(&stat("S"), 4242), Some(Process::Runs(4242)));
        assert_eq!(Process::parse(&stat("Z"), 4242), Some(Process::Ended));
        assert_eq!(Process::parse(&stat("S"), 4000), Some(Process::Ended));
        assert_eq!(Process::parse("7 (cut", 4242), None);
        let me = std::process::id();
        assert!(matches!(Process::look(me, u64::MAX - 1), Process::Runs(_)));
        assert_eq!(Process::look(me, 0), Process::Ended);
    }

    #[test]
    fn young_processes_among_others_say_nothing_yet() {
        let mut group = Group::default();
        group.processes.extend([(1, 10.0), (2, 10.0), (3, 30.0)]);
        let of = |last| vec![(1, Process::Runs(50)), (2, Process::Runs(60)), (3, last)];
        assert!(!has_evidence(&group, &of(Process::Runs(70)), 40));
        assert!(has_evidence(&group, &of(Process::Ended), 40));
        assert!(has_evidence(&group, &of(Process::Runs(40)), 40));
        assert!(has_evidence(&group, &[(3, Process::Runs(70))], 40));
    }
}
