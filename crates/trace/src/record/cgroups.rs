//! The memory cgroups of the threads that there are, by `/proc`.

use std::fs;

use super::machine;
use crate::cgroups::Running;

/// Returns the threads with their processes and cgroups; none where `/proc` numbers them otherwise than the kernel's events.
pub(super) fn running() -> Running {
    let mut running = Running::default();
    if !machine::proc_is_ours() {
        return running;
    }
    let numbers = |folder: &str| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
    };
    for process in numbers("/proc") {
        for thread in numbers(&format!("/proc/{process}/task")) {
            // One that has ended meanwhile is in no cgroup any more.
            let text = fs::read_to_string(format!("/proc/{process}/task/{thread}/cgroup"));
            let Some((hierarchy, path)) = text.ok().as_deref().and_then(of_memory) else {
                continue;
            };
            running.hierarchy = Some(hierarchy);
            running.threads.insert(thread, (process, path));
        }
    }
    running
}

/// Returns the number of the hierarchy with the memory controller and the path in it, of what `/proc/PID/cgroup` says. The
/// unified hierarchy has it where no other does.
fn of_memory(text: &str) -> Option<(i32, String)> {
    let lines = text.lines().filter_map(|line| {
        let (hierarchy, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        Some((hierarchy.parse::<i32>().ok()?, controllers, path))
    });
    let own = |controllers: &str| controllers.split(',').any(|one| one == "memory");
    let mut unified = None;
    for (hierarchy, controllers, path) in lines {
        if own(controllers) {
            return Some((hierarchy, path.to_owned()));
        }
        if hierarchy == 0 {
            unified = Some((0, path.to_owned()));
        }
    }
    unified
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_controllers_path_is_taken_of_either_version() {
        let v1 = "9:name=systemd:/\n4:memory:/a:b\n0::/\n";
        assert_eq!(of_memory(v1), Some((4, "/a:b".to_owned())));
        assert_eq!(
            of_memory("0::/system.slice/x.service\n"),
            Some((0, "/system.slice/x.service".to_owned()))
        );
        assert_eq!(of_memory("3:cpuset:/\n"), None);
    }
}
