//! Whether recording and importing would work here: facts for `slablab doctor`.

use std::fs::File;
use std::path::Path;

use State::{Fair, Good, Missing};
use slablab_host::{find_program, shell};

use crate::record::tracefs::Tracefs;

/// One fact about this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// What was looked at, as in "tracefs".
    pub name: &'static str,
    /// How it stands.
    pub state: State,
    /// What was found, as in "mounted at /sys/kernel/tracing".
    pub found: String,
    /// What to do, in a sentence; "" when nothing need be done.
    pub remedy: String,
}

/// How a fact stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// As it should be.
    Good,
    /// Works, but something is missing or worse than it could be.
    Fair,
    /// Recording does not work without it.
    Missing,
}

/// Bytes free below which a long recording may fail.
const DISK_BYTES_MIN: u64 = 4 << 30;

/// Looks at this machine. Nothing is changed: tracefs that is not mounted stays so.
pub fn probe() -> Vec<Fact> {
    let tracefs = Tracefs::mounted();
    let mut facts = vec![kernel(), user(), mount(tracefs.as_ref())];
    facts.extend(tracefs.as_ref().map(events));
    facts.extend(tracefs.as_ref().map(kprobes));
    facts.extend(tracefs.as_ref().and_then(left_tracing));
    facts.extend([cpus(), slabinfo(), sysfs_slab(), kallsyms(), disk(), perf()]);
    facts
}

fn fact(name: &'static str, state: State, found: impl Into<String>, remedy: &str) -> Fact {
    Fact { name, state, found: found.into(), remedy: remedy.into() }
}

fn kernel() -> Fact {
    let name = rustix::system::uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    let (system, release, arch) = (name.sysname(), name.release(), name.machine());
    fact("kernel", Good, format!("{} {}, {}", text(system), text(release), text(arch)), "")
}

fn user() -> Fact {
    if rustix::process::geteuid().is_root() {
        return fact("user", Good, "root", "");
    }
    let found = format!("uid {}", rustix::process::geteuid().as_raw());
    fact("user", Missing, found, "Run `slablab record` with sudo; everything else works without.")
}

fn mount(tracefs: Option<&Tracefs>) -> Fact {
    const NAME: &str = "tracefs";
    let Some(tracefs) = tracefs else {
        return if !Path::new("/sys/kernel/tracing").is_dir() {
            let remedy = "Boot a kernel built with CONFIG_FTRACE=y and CONFIG_EVENT_TRACING=y.";
            fact(NAME, Missing, "not in this kernel", remedy)
        } else if rustix::process::geteuid().is_root() {
            let remedy = "`slablab record` mounts it; by hand: mount -t tracefs tracefs /sys/kernel/tracing.";
            fact(NAME, Fair, "not mounted", remedy)
        } else {
            fact(NAME, Missing, "not mounted, or not readable for this user", "Run as root.")
        };
    };
    let found = format!("mounted at {}", tracefs.root.display());
    match rustix::fs::access(tracefs.root.join("instances"), rustix::fs::Access::WRITE_OK) {
        Ok(()) => fact(NAME, Good, found, ""),
        Err(_) => fact(NAME, Missing, format!("{found}, but not writable"), "Run as root."),
    }
}

fn events(tracefs: &Tracefs) -> Fact {
    const NEEDED: [&str; 4] = ["kmalloc", "kfree", "kmem_cache_alloc", "kmem_cache_free"];
    let there = tracefs.kmem_events();
    let lacking: Vec<&str> = NEEDED.into_iter().filter(|event| !there.contains(event)).collect();
    if lacking.is_empty() {
        return fact("kmem events", Good, there.join(", "), "");
    }
    let remedy = "Boot a kernel built with CONFIG_EVENT_TRACING=y, or run as root to see them.";
    fact("kmem events", Missing, format!("no {}", lacking.join(", ")), remedy)
}

fn kprobes(tracefs: &Tracefs) -> Fact {
    const NAME: &str = "kprobe events";
    if tracefs.root.join("kprobe_events").exists() {
        return fact(NAME, Good, "there: `record` probes what works in bulk", "");
    }
    let found = "not in this kernel: frees in bulk are estimated";
    fact(NAME, Fair, found, "Boot a kernel built with CONFIG_KPROBE_EVENTS=y to record it.")
}

/// What recorders left that were killed; nothing where there is nothing to say.
fn left_tracing(tracefs: &Tracefs) -> Option<Fact> {
    let left = tracefs.abandoned_instances();
    let paths: Vec<_> = left.iter().map(|path| shell::path(path)).collect();
    let name = |path: &std::path::PathBuf| {
        path.file_name().map(|name| name.to_string_lossy().into_owned())
    };
    let names: Vec<String> = left.iter().filter_map(name).collect();
    (!left.is_empty()).then(|| {
        let remedy = format!(
            "The next `slablab record` or `slablab top` removes what a killed one left; by hand: rmdir {}.",
            paths.join(" ")
        );
        fact("left tracing", Fair, format!("{}, whose process is gone", names.join(", ")), &remedy)
    })
}

fn cpus() -> Fact {
    let count = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    fact("CPUs", Good, count.to_string(), "")
}

fn slabinfo() -> Fact {
    match File::open("/proc/slabinfo") {
        Ok(_) => fact("/proc/slabinfo", Good, "readable", ""),
        Err(error) => fact(
            "/proc/slabinfo",
            Fair,
            error.to_string(),
            "Run as root to record the caches' state.",
        ),
    }
}

fn sysfs_slab() -> Fact {
    match std::fs::read_dir("/sys/kernel/slab") {
        Ok(caches) => {
            fact("/sys/kernel/slab", Good, format!("{} caches and aliases", caches.count()), "")
        }
        Err(error) => {
            let remedy =
                "Only SLUB with CONFIG_SYSFS has it; traces then lack the caches' geometry.";
            fact("/sys/kernel/slab", Fair, error.to_string(), remedy)
        }
    }
}

fn kallsyms() -> Fact {
    const NAME: &str = "/proc/kallsyms";
    match crate::Symbols::running() {
        Ok(symbols) if symbols.is_empty() => {
            let remedy = "Run as root, or write 1 to /proc/sys/kernel/kptr_restrict, to see call sites by name.";
            fact(NAME, Fair, "addresses are hidden", remedy)
        }
        Ok(_) => fact(NAME, Good, "readable", ""),
        Err(error) => fact(NAME, Fair, error.to_string(), "Call sites will be addresses."),
    }
}

fn disk() -> Fact {
    let Ok(stat) = rustix::fs::statvfs(".") else {
        return fact(
            "disk",
            Fair,
            "free space unknown",
            "Check that there is room for a recording here.",
        );
    };
    let free_bytes = stat.f_bavail.saturating_mul(stat.f_frsize);
    let found = format!("{:.1} GiB free here", free_bytes as f64 / f64::from(1 << 30));
    if free_bytes < DISK_BYTES_MIN {
        return fact(
            "disk",
            Fair,
            found,
            "A busy machine records 250 MB a second: free some, or use -o elsewhere.",
        );
    }
    fact("disk", Good, found, "")
}

fn perf() -> Fact {
    let Some(perf) = find_program("perf") else {
        let remedy = "Not needed; `apt-get install linux-perf` to compare with `perf kmem`.";
        return fact("perf", Fair, "not installed", remedy);
    };
    let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    fact("perf", Good, format!("{}, perf_event_paranoid {}", perf.display(), level.trim()), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_not_good_has_a_remedy() {
        let facts = probe();
        assert!(facts.len() >= 9);
        for fact in facts {
            assert_eq!(fact.remedy.is_empty(), fact.state == State::Good, "{fact:?}");
            assert!(!fact.found.is_empty(), "{fact:?}");
        }
    }
}
