//! Records the running kernel's allocations through tracefs.
//!
//! # How it works
//! An instance of tracefs of our own, with the kmem events on; one thread per CPU moves whole pages of the ring buffer to
//! a file while the command runs ([`drain`]), in a folder beside the output ([`unfinished`]); afterwards the trace is made
//! of that folder ([`process`]), also of one whose recorder was killed ([`recover`]). What can be found out before is found
//! out while the command runs, where CPUs are idle ([`first_look`]). What the kernel could not store is counted by the
//! kernel itself (`per_cpu/cpuN/stats`).
//!
//! Work that tracefs could do for each event or context switch costs the workload, so it is left undone. Our own
//! threads' events are dropped here and not by `set_event_notrace_pid`, which took a workload of much messaging
//! from 1.33 times its untraced time to 1.43 times. Names of threads are not recorded, which took it to 1.39
//! (medians of 31).
//!
//! The buffers do not overwrite: when one is full, new events are dropped and counted, which costs
//! the workload less than moving the oldest page out of the way, and leaves one gap instead of many. Only where the last
//! events are wanted ([`Keep::Last`]) do they overwrite, and they are emptied at the end alone.
//!
//! Our own threads are known by what the kernel writes beside a mark of theirs (`trace_marker`), as that is their
//! number in the initial PID namespace, whichever we are in.
//!
//! A file that cannot be written any more (a full disk) ends the recording; the command goes on.
//!
//! # Invariants
//! - No instance is left behind, whatever ends the recording but SIGKILL, and that one is removed by the next.
//! - What was recorded is on the disk or in an instance's buffers until its trace is at its path.
//! - kmem events in the trace + lost + our own threads' = those that happened. (A lost record of a probe is one, too,
//!   however many objects it tells of.)

mod called;
mod cgroups;
mod chosen;
mod config;
mod counter;
mod drain;
mod filter;
mod first_look;
mod head;
pub(crate) mod machine;
#[cfg(test)]
mod made_up;
mod options;
mod own;
mod packed;
mod pages;
mod paired;
mod probes;
mod process;
mod readings;
mod recording;
mod recover;
mod reserve;
mod sampler;
mod slab_limit;
pub(crate) mod stacks;
mod tasks;
pub(crate) mod tracefs;
mod unfinished;
mod until;
mod workload;
mod zones;

pub use self::counter::EventCounter;
pub use self::options::{BUFFER_KIB_DEFAULT, Keep, RecordOptions, RecordSummary};
#[cfg(fuzzing)]
pub use self::packed::fuzz_packed;
use self::process::process;
use self::recording::Recording;
pub use self::recover::recover;
pub use self::slab_limit::{SlabLimit, SlabPart, SlabReached};
use self::unfinished::Unfinished;
use crate::{Error, Progress, TraceWriter};

/// Records system-wide while the command runs, and writes the trace.
///
/// # Errors
/// When tracefs or its kmem events cannot be used, the command cannot be started, or the trace
/// cannot be written (then the command is ended). Nothing is left in tracefs or at the output path then.
pub fn record(
    options: &RecordOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<RecordSummary, Error> {
    let writer = TraceWriter::create(&options.output)?;
    let mut unfinished = Unfinished::create(&options.output)?;
    let recorded = Recording::begin(options, &unfinished)?.run(options, &mut unfinished);
    let (mut signals, look) = recorded.map_err(|error| match unfinished.is_kept() {
        true => unfinished.kept(&error),
        false => error,
    })?;
    process(unfinished, writer, look, &mut signals, progress)
}
