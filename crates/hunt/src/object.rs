//! A live object that is tracked, and a call stack, as the programs wrote them.

use std::ops::Range;

use crate::tables::{CACHE_BYTES, FRAMES_BYTES, LIVE_BYTES};

/// A threshold that lets every allocation be tracked: see `kernel/bpf/hunt.bpf`.
pub(crate) const THRESHOLD_ALL: u64 = 1 << 32;

/// The name of a program, as the kernel keeps it.
pub(crate) type Comm = [u8; 16];

/// A tracked object that is alive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Object {
    pub(crate) address: u64,
    /// Nanoseconds of the monotonic clock
    pub(crate) time_ns: u64,
    pub(crate) comm: Comm,
    /// The number of its memory cgroup; that of its folder
    pub(crate) cgroup: u64,
    /// 0 where none was kept
    pub(crate) stack: u32,
    pub(crate) process: u32,
    pub(crate) requested_bytes: u32,
    pub(crate) allocated_bytes: u32,
    /// Address of its `kmem_cache`; 0 for kmalloc
    pub(crate) cache: u64,
    pub(crate) site: u64,
    pub(crate) gfp: u32,
    /// Allocations that it stands for
    pub(crate) weight: f64,
}

impl Object {
    /// Reads an entry of the map.
    pub(crate) fn parse(key: &[u8], value: &[u8]) -> Self {
        debug_assert_eq!((key.len(), value.len()), (8, LIVE_BYTES));
        let threshold = u64_at(value, 64).max(1);
        Self {
            address: u64_at(key, 0),
            time_ns: u64_at(value, 0),
            comm: value[8..24].try_into().expect("sixteen bytes"),
            cgroup: u64_at(value, 24),
            stack: u32_at(value, 32),
            process: u32_at(value, 36),
            requested_bytes: u32_at(value, 40),
            allocated_bytes: u32_at(value, 44),
            cache: u64_at(value, 48),
            site: u64_at(value, 56),
            gfp: u32_at(value, 72),
            weight: THRESHOLD_ALL as f64 / threshold as f64,
        }
    }
}

/// A call stack and its number.
pub(crate) fn parse_stack(key: &[u8], value: &[u8]) -> (u32, Vec<u64>) {
    debug_assert_eq!(key.len(), FRAMES_BYTES);
    let frames = key.chunks_exact(8).map(|frame| u64_at(frame, 0));
    (u32_at(value, 0), frames.take_while(|frame| *frame != 0).collect())
}

/// What is kept of a cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cache {
    pub(crate) name: String,
    pub(crate) flags: u32,
}

impl Cache {
    pub(crate) fn parse(value: &[u8]) -> Self {
        debug_assert_eq!(value.len(), CACHE_BYTES);
        Self { name: text(&value[16..]), flags: u32_at(value, 8) }
    }
}

/// Returns the text before the first zero.
pub(crate) fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[range(at, 8)].try_into().expect("eight bytes"))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[range(at, 4)].try_into().expect("four bytes"))
}

fn range(at: usize, bytes: usize) -> Range<usize> {
    at..at + bytes
}
