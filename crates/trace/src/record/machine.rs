//! The facts of the running machine, for the metadata.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use slablab_host::KeyHasher;
use slablab_linux::Release;

use super::config;
use crate::source::build_id;
use crate::{Meta, cpu_list};

/// Fills in kernel, machine, CPUs and nodes.
pub(super) fn describe(meta: &mut Meta) {
    let name = rustix::system::uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    meta.kernel_release = text(name.release());
    meta.arch = text(name.machine());
    meta.hostname = text(name.nodename());
    meta.build_id = build_id::of_running_kernel().unwrap_or_default();
    meta.config = config::of_running(&meta.kernel_release);
    meta.boot = boot().unwrap_or_default();
    meta.cpu = cpu_name();
    meta.memory_bytes = memory_bytes();
    meta.page_bytes = rustix::param::page_size() as u32;
    let possible = cpu_list::read("/sys/devices/system/cpu/possible");
    meta.cpus = possible.last().map_or(1, |last| last + 1);
    meta.nodes = cpu_list::read("/sys/devices/system/node/online").len().max(1) as u32;
    meta.cpu_nodes = vec![0; meta.cpus as usize];
    for (cpu, node) in cpu_list::cpu_nodes() {
        if let Some(of_cpu) = meta.cpu_nodes.get_mut(cpu as usize) {
            *of_cpu = node as u16;
        }
    }
}

/// Returns the CPUs that are online.
pub(crate) fn cpus_online() -> Vec<u32> {
    cpu_list::read("/sys/devices/system/cpu/online")
}

/// Returns what stands for this boot. The `boot_id` itself is meant to stay on its machine (`machine-id(5)`).
fn boot() -> Option<String> {
    let mut hasher = KeyHasher::new("boot");
    hasher.update(fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?.trim());
    Some(hasher.finish().to_string())
}

/// Returns whether the kernel that metadata describe still runs.
pub(super) fn is_of_this_boot(meta: &Meta) -> bool {
    boot().is_some_and(|boot| boot == meta.boot)
}

/// Returns the name of the first processor, "" when it is not known.
fn cpu_name() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':'));
    name.map_or_else(String::new, |(_, name)| name.trim().to_owned())
}

/// Returns the machine's memory in bytes, 0 when it is not known.
pub(super) fn memory_bytes() -> u64 {
    meminfo_bytes("MemTotal:")
}

/// Returns what a line of `/proc/meminfo` says in bytes, 0 when it is not known.
pub(super) fn meminfo_bytes(name: &str) -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

/// Returns whether `/proc` numbers processes as this process sees them: not where it was mounted for another
/// PID namespace.
pub(crate) fn proc_is_ours() -> bool {
    let own = fs::read_link("/proc/self").ok();
    own.is_some_and(|own| own.to_str() == Some(&std::process::id().to_string()))
}

/// Returns whether the allocator may be SLOB, which has no `/proc/slabinfo`.
pub(super) fn may_be_slob() -> bool {
    let name = rustix::system::uname();
    let release = name.release().to_string_lossy();
    let has_slob = Release::of(&release).is_none_or(Release::has_slob);
    has_slob && !fs::exists("/proc/slabinfo").unwrap_or(false)
}

/// Returns the ids of this process's threads, as `/proc` has them.
pub(crate) fn own_threads() -> Vec<u32> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    threads.filter_map(|thread| thread.file_name().to_str()?.parse().ok()).collect()
}

/// Returns the wall clock in nanoseconds since 1970.
pub(super) fn unix_ns() -> Option<u64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}
