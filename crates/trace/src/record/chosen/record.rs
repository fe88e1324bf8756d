//! A record that a program pushed: an allocation or a free.

/// Bytes of a record without its frames, of its frames, and of a cache's name: the order is that of `kernel/bpf/record.bpf`.
pub(super) const RECORD_BYTES: usize = 80;
pub(super) const FRAMES_BYTES: usize = 512;
pub(super) const CACHE_NAME_BYTES: usize = 48;
/// What a program needs to put one together.
pub(super) const SCRATCH_BYTES: usize = RECORD_BYTES + FRAMES_BYTES + CACHE_NAME_BYTES;

/// What a record is of.
pub(super) mod kind {
    pub(crate) const KMALLOC: u32 = 1;
    pub(crate) const CACHE_ALLOC: u32 = 2;
    pub(crate) const KFREE: u32 = 3;
    pub(crate) const CACHE_FREE: u32 = 4;
}

/// An event that was chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) kind: u32,
    pub(super) cpu: u32,
    pub(super) time_ns: u64,
    pub(super) thread: u32,
    pub(super) site: u64,
    pub(super) object: u64,
    pub(super) requested_bytes: u64,
    pub(super) allocated_bytes: u64,
    pub(super) gfp: u32,
    pub(super) node: i32,
    /// Address of its `kmem_cache`; 0 for kmalloc
    pub(super) cache: u64,
    /// Whether a memory cgroup is charged for it
    pub(super) is_accounted: bool,
    /// Return addresses, nearest first
    pub(super) frames: Vec<u64>,
}

impl Record {
    /// Reads what a program pushed; `None` where it is shorter than what all have.
    pub(super) fn parse(value: &[u8]) -> Option<Record> {
        let (fixed, frames) = value.split_at_checked(RECORD_BYTES)?;
        let u32_at =
            |at: usize| u32::from_ne_bytes(fixed[at..at + 4].try_into().expect("four bytes"));
        let u64_at =
            |at: usize| u64::from_ne_bytes(fixed[at..at + 8].try_into().expect("eight bytes"));
        let frames = &frames[..(u32_at(20) as usize).min(frames.len())];
        let frame = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
        Some(Record {
            kind: u32_at(0),
            cpu: u32_at(4),
            time_ns: u64_at(8),
            thread: u32_at(16),
            site: u64_at(24),
            object: u64_at(32),
            requested_bytes: u64_at(40),
            allocated_bytes: u64_at(48),
            gfp: u32_at(56),
            node: u32_at(60).cast_signed(),
            cache: u64_at(64),
            is_accounted: u64_at(72) != 0,
            frames: frames.chunks_exact(8).map(frame).collect(),
        })
    }
}
