//! What to record, where to, and what a finished recording says of itself.

use std::path::PathBuf;
use std::time::Duration;

use super::slab_limit::{SlabLimit, SlabReached};
use crate::{Addresses, Meta};

/// Kibibytes of ring buffer for each CPU when [`RecordOptions::buffer_kib`] is not set: on the
/// reference machine `perf bench sched messaging -g 5 -l 100` fills two fifths of it on each of two CPUs,
/// and its thread is not woken to empty it.
pub const BUFFER_KIB_DEFAULT: u32 = 64 << 10;

/// What to record, and where to.
#[derive(Debug, Clone)]
pub struct RecordOptions {
    /// The trace file to write.
    pub output: PathBuf,
    /// The command to run meanwhile, word by word. When empty, records until
    /// [`RecordOptions::duration`] has passed or a signal (SIGINT, SIGTERM) comes.
    pub command: Vec<String>,
    /// Stops after this time, command or not.
    pub duration: Option<Duration>,
    /// Kibibytes of ring buffer for each CPU; `None` for [`BUFFER_KIB_DEFAULT`], or less where that
    /// would be more than an eighth of the machine's memory.
    pub buffer_kib: Option<u32>,
    /// Which events are kept.
    pub keep: Keep,
    /// Ends the recording when the machine's slabs take more.
    pub slab_limits: Vec<SlabLimit>,
    /// Records these caches only, by a filter in the kernel; all and kmalloc when empty.
    pub caches: Vec<String>,
    /// Records what these functions allocate only, or `function+0x1c`, by a filter in the kernel; all when empty.
    pub sites: Vec<String>,
    /// Records what is allocated below these functions only, anywhere in the call stack; all when empty. Needs
    /// [`RecordOptions::stacks`].
    pub callers: Vec<String>,
    /// Records no frees: what is allocated is counted then, and seems to stay alive.
    pub frees: bool,
    /// Records what is allocated and freed in bulk too, by probes in the kernel, where it allows them.
    pub probes: bool,
    /// Records the call stack of each allocation that is recorded.
    pub stacks: bool,
    /// Records the events of the page allocator too, all of them, whatever is chosen of slab events.
    pub pages: bool,
    /// Records one of this many objects only, as [`Portion::ONE_IN`] has them, by a filter in the kernel.
    pub one_in: Option<u32>,
    /// What becomes of the addresses of call sites.
    pub addresses: Addresses,
}

/// Which events of a recording are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// All
    All,
    /// The last ones, as many as the ring buffers hold
    Last,
}

impl RecordOptions {
    /// Returns the options for recording everything to `output` until a signal comes.
    pub fn new(output: impl Into<PathBuf>) -> RecordOptions {
        RecordOptions {
            output: output.into(),
            command: Vec::new(),
            duration: None,
            buffer_kib: None,
            keep: Keep::All,
            slab_limits: Vec::new(),
            caches: Vec::new(),
            sites: Vec::new(),
            callers: Vec::new(),
            frees: true,
            probes: true,
            stacks: false,
            pages: false,
            one_in: None,
            addresses: Addresses::Keep,
        }
    }
}

/// A finished recording.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordSummary {
    /// The trace's metadata, the quality counters among it.
    pub meta: Meta,
    /// Exit status for the caller to pass on: the command's, 128 + signal when one ended it, 0 without a command.
    pub exit_status: i32,
    /// How long the recording ran.
    pub elapsed: Duration,
    /// Which events were kept.
    pub keep: Keep,
    /// The greatest share of its time that a thread which empties a ring buffer waited for the disk.
    pub write_share: f64,
    /// What the command left running, as in "sleep (pid 12)".
    pub left_running: Vec<String>,
    /// What slabs held when that ended the recording ([`RecordOptions::slab_limits`]).
    pub slab_reached: Option<SlabReached>,
    /// The functions of [`RecordOptions::sites`] that allocated nothing, with the parts that the compiler made of each.
    pub silent: Vec<(String, Vec<String>)>,
    /// The caches of [`RecordOptions::caches`] that no event names.
    pub silent_caches: Vec<String>,
    /// The functions of [`RecordOptions::callers`] that no stack goes through, with their parts.
    pub silent_callers: Vec<(String, Vec<String>)>,
}
