//! How much memory a process may use, so that it ends with a message before the kernel ends it, or others, without one.
//!
//! # How it works
//! A thread looks 20 times a second at what the process itself has in memory and in swap: pages of its own, and not those of
//! files, which the kernel drops when memory is short. What is free is `MemAvailable`, or less where the process's control
//! group may use less.
//!
//! # Invariants
//! The process never goes far beyond its limit: a thread that fills pages needs longer for a gigabyte than one look takes.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Between two looks.
const NAP: Duration = Duration::from_millis(50);

/// Returns the bytes of memory that this process can use without taking any from others; `None` where the system does not
/// tell it.
#[must_use]
pub fn memory_available_bytes() -> Option<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
    let available = field_bytes(&meminfo, "MemAvailable:")?;
    Some(group_room_bytes().map_or(available, |room| room.min(available)))
}

/// The limit of the watch; 0 while there is none.
static LIMIT_BYTES: AtomicU64 = AtomicU64::new(0);

/// Returns how much more memory this process may use: up to the limit that is watched, or half of what is free. `None` where
/// the system does not tell it.
#[must_use]
pub fn memory_room_bytes() -> Option<u64> {
    match LIMIT_BYTES.load(Ordering::Relaxed) {
        0 => Some(memory_available_bytes()? / 2),
        limit => Some(limit.saturating_sub(used_bytes()?)),
    }
}

/// Whether the watch has ended.
static IS_OVER: Mutex<bool> = Mutex::new(false);

/// Calls `beyond` with the bytes in use when the process uses more than `limit_bytes`; from a thread, and once.
pub fn watch_memory(limit_bytes: u64, beyond: impl FnOnce(u64) + Send + 'static) {
    LIMIT_BYTES.store(limit_bytes.max(1), Ordering::Relaxed);
    let watch = move || {
        loop {
            match used_bytes() {
                Some(used) if used > limit_bytes => {
                    // Held for as long as `beyond` takes: the answer waits for it.
                    let is_over = IS_OVER.lock().expect("no thread panics while it is held");
                    if !*is_over {
                        beyond(used);
                    }
                    return;
                }
                Some(_) => thread::sleep(NAP),
                None => return,
            }
        }
    };
    // Without a thread nothing is watched, and the command does its work all the same.
    let _ = thread::Builder::new().name("memory".to_owned()).spawn(watch);
}

/// Ends the watch: the answer is known, and is written whole.
pub fn end_watch() {
    *IS_OVER.lock().expect("no thread panics while it is held") = true;
}

/// Returns the bytes of this process's own pages.
fn used_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let own = ["RssAnon:", "RssShmem:", "VmSwap:"];
    Some(own.iter().filter_map(|name| field_bytes(&status, name)).sum())
}

/// Returns a field of `/proc/meminfo` or `/proc/self/status` in bytes.
fn field_bytes(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = rest.split_ascii_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

/// Returns how much more this process's control group may use; `None` where it has no limit.
fn group_room_bytes() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let files = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        match controllers {
            "" => Some((format!("/sys/fs/cgroup{path}"), "memory.max", "memory.current")),
            "memory" => Some((
                format!("/sys/fs/cgroup/memory{path}"),
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
            )),
            _ => None,
        }
    });
    let number = |folder: &str, file: &str| -> Option<u64> {
        fs::read_to_string(format!("{folder}/{file}")).ok()?.trim().parse().ok()
    };
    let room = |(folder, limit, usage): (String, &str, &str)| {
        Some(number(&folder, limit)?.saturating_sub(number(&folder, usage)?))
    };
    files.filter_map(room).min()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn what_goes_beyond_the_limit_is_told() {
        let available = memory_available_bytes().unwrap();
        assert!(available > 0);
        let (sender, receiver) = channel();
        let limit = used_bytes().unwrap() + (64 << 20);
        watch_memory(limit, move |used| sender.send(used).unwrap());
        assert!(receiver.recv_timeout(NAP * 4).is_err(), "nothing is used yet");
        let block = vec![1u8; 128 << 20];
        let used = receiver.recv_timeout(Duration::from_secs(20)).unwrap();
        assert!(used > limit && block[used as usize % block.len()] == 1);
    }

    #[test]
    fn a_field_is_read_in_bytes() {
        let text = "RssAnon:\t    1024 kB\nRssFile:\t 8 kB\n";
        assert_eq!(field_bytes(text, "RssAnon:"), Some(1 << 20));
        assert_eq!(field_bytes(text, "VmSwap:"), None);
    }
}
