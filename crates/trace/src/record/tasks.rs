//! What threads are called: those that run when the recording begins, by `/proc`, and later ones by their own events. Events
//! also tell in which cgroups threads are.

use std::collections::BTreeMap;
use std::fs;

use super::machine;
use super::tracefs::Instance;
use crate::source::{cgroup, task};

/// Returns the events that name threads, or tell of their cgroups, as far as this kernel has them.
pub(super) fn events(instance: &Instance) -> impl Iterator<Item = String> + use<> {
    let exists = |event: &&str| instance.path(&format!("events/{event}/enable")).exists();
    let events: Vec<_> =
        task::EVENTS.into_iter().chain([cgroup::EVENT]).filter(exists).map(str::to_owned).collect();
    events.into_iter()
}

/// Returns the names of the threads that there are; none where `/proc` numbers them otherwise than the kernel's events.
pub(super) fn running() -> BTreeMap<u32, String> {
    let mut names = BTreeMap::new();
    if !machine::proc_is_ours() {
        return names;
    }
    let numbers = |folder: &str| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
    };
    for process in numbers("/proc") {
        for thread in numbers(&format!("/proc/{process}/task")) {
            // One that has ended meanwhile has no name any more.
            let name = fs::read_to_string(format!("/proc/{process}/task/{thread}/comm"));
            names.extend(name.ok().map(|name| (thread, name.trim_end().to_owned())));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_thread_has_its_name() {
        let thread = std::thread::Builder::new().name("named thread".into());
        let (send, wait) = std::sync::mpsc::channel::<()>();
        let running_thread = thread.spawn(move || wait.recv()).unwrap();
        let is_named = || running().values().any(|name| name == "named thread");
        let found = (0..100).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            is_named()
        });
        drop(send);
        let _ = running_thread.join();
        assert!(found || !machine::proc_is_ours());
    }
}
