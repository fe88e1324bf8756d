//! What threads are called, as the records of a `perf.data` tell it.
//!
//! # How it works
//! Perf empties one CPU's buffer after the other, and where it has to wait for a CPU itself the record of an exec may come
//! behind those of the forks that followed it. So records are kept with their times, and are followed in that order at the
//! end of the file. Those without a time are older than all others: perf itself made them when it began.

use std::collections::BTreeMap;

/// What the records say.
#[derive(Debug, Default)]
pub(super) struct Comms {
    /// When, which thread, and what it is called
    told: Vec<(u64, u32, Name)>,
}

#[derive(Debug)]
enum Name {
    Own(String),
    /// As that of the thread that made it was then
    Inherited(u32),
}

impl Comms {
    /// Notes that a thread has a name.
    pub(super) fn comm(&mut self, time_ns: u64, thread: u32, name: String) {
        self.told.push((time_ns, thread, Name::Own(name)));
    }

    /// Notes that a thread was made, which is called as the one that made it until it is called otherwise.
    pub(super) fn fork(&mut self, time_ns: u64, thread: u32, maker: u32) {
        self.told.push((time_ns, thread, Name::Inherited(maker)));
    }

    /// Gives each thread the last name of its own, or else the first that it inherited.
    pub(super) fn finish(&mut self, comms: &mut BTreeMap<u32, String>) {
        let mut told = std::mem::take(&mut self.told);
        // Stable: at the same time, in the order of the file.
        told.sort_by_key(|(time_ns, ..)| *time_ns);
        for (_, thread, name) in told {
            match name {
                Name::Own(name) => {
                    comms.insert(thread, name);
                }
                Name::Inherited(maker) => {
                    if let Some(name) = comms.get(&maker).cloned() {
                        comms.entry(thread).or_insert(name);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a busy machine two thirds of python3's children were called bash, as the program that had executed it.
    #[test]
    fn a_child_whose_fork_is_read_before_its_makers_exec_is_called_as_its_maker_was_at_the_fork() {
        let (mut told, mut comms) = (Comms::default(), BTreeMap::new());
        told.comm(0, 1, "bash".to_owned());
        told.fork(5, 2, 1);
        told.fork(30, 3, 1);
        told.comm(40, 4, "late".to_owned());
        told.fork(35, 4, 1);
        // Of another CPU's buffer, which was read later
        told.comm(20, 1, "python3".to_owned());
        told.fork(31, 9, 8);
        told.finish(&mut comms);
        let expected = [(1, "python3"), (2, "bash"), (3, "python3"), (4, "late")];
        assert_eq!(comms, expected.map(|(thread, name)| (thread, name.to_owned())).into());
    }
}
