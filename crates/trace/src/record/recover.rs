//! Makes the trace of a recording whose recorder was killed, or that ended without one (a full disk, Ctrl-C meanwhile).
//!
//! # How it works
//! What its folder lacks is added first: the pages that still lie in the buffers of the recorder's instance, which outlives
//! it, and how many events these lost. The samples are those of the readings that were written one by one; behind the last
//! of them nothing counts, as the kernel went on alone. Then the trace is made as that of any recording.

use std::fs::File;
use std::path::Path;

use slablab_host::Signals;

use super::head::{Head, Tail};
use super::options::RecordSummary;
use super::process::process;
use super::recording::lost_of;
use super::tracefs::Tracefs;
use super::unfinished::Unfinished;
use super::{drain, machine, readings};
use crate::{Error, Progress, TraceWriter};

/// Makes the trace that was to be at `output` of what an interrupted recording of it left.
///
/// # Errors
/// When there is none, or its recorder still runs, or the trace cannot be written; then what is left stays as it is.
pub fn recover(output: &Path, progress: &mut dyn FnMut(Progress)) -> Result<RecordSummary, Error> {
    let unfinished = Unfinished::open(output)?;
    let mut signals =
        Signals::catch().map_err(|e| Error::io("signals".as_ref(), "cannot catch", e))?;
    let writer = TraceWriter::create(output)?;
    if unfinished.tail().is_none() {
        let head = unfinished.head()?;
        unfinished.own_threads()?;
        let tail = tail_of(&unfinished, &head)?;
        unfinished.end(&tail)?;
    }
    process(unfinished, writer, &mut signals, progress)
}

/// Returns what can be known of the end of a recording whose recorder was killed.
fn tail_of(unfinished: &Unfinished, head: &Head) -> Result<Tail, Error> {
    let lost = take_rest(unfinished, head)?;
    let samples = readings::read(&unfinished.readings_path());
    let until_ns = samples.times_ns.last().copied();
    let elapsed_ns = until_ns.zip(samples.times_ns.first()).map_or(0, |(to, from)| to - from);
    Ok(Tail {
        lost,
        elapsed_ns,
        end_unix_ns: head.meta.start_unix_ns.map(|start_ns| start_ns + elapsed_ns),
        samples,
        ended_early: Some("its recorder did not end in order".to_owned()),
        until_ns,
        ..Tail::default()
    })
}

/// Moves what the instance's buffers hold to the files, where the kernel that was recorded still runs; returns how many
/// events they lost, by CPU. The instance is gone then.
fn take_rest(unfinished: &Unfinished, head: &Head) -> Result<Vec<u64>, Error> {
    let mut lost = vec![0; head.meta.cpus as usize];
    let files = head.cpus.iter().map(|&cpu| {
        let path = unfinished.pages_path(cpu);
        let file = File::options().read(true).write(true).open(&path);
        Ok((cpu, file.map_err(|e| Error::io(&path, "cannot open", e))?))
    });
    let files = files.collect::<Result<Vec<_>, Error>>()?;
    files.iter().for_each(|(_, file)| drain::keep_whole_pages(file, head.page_bytes));
    for cpu in 0..head.meta.cpus {
        if let Ok(file) = File::options().write(true).open(unfinished.objects_path(cpu)) {
            drain::keep_whole_pages(&file, head.page_bytes);
        }
    }
    if !machine::is_of_this_boot(&head.meta) {
        return Ok(lost);
    }
    let instance = Tracefs::mounted().and_then(|tracefs| tracefs.adopt(Path::new(&head.instance)));
    let Some(instance) = instance else { return Ok(lost) };
    match instance.write("tracing_on", "0") {
        // Another recorder has cleared what was left behind, and the events of the last moment with it.
        Err(_) if instance.is_gone() => return Ok(lost),
        stopped => stopped?,
    }
    for (cpu, file) in &files {
        let pipe = instance.path(&format!("per_cpu/cpu{cpu}/trace_pipe_raw"));
        drain::move_rest(&pipe, file, head.page_bytes).map_err(|e| {
            Error::io(&unfinished.pages_path(*cpu), "cannot write the recording", e)
        })?;
        if let Some(lost) = lost.get_mut(*cpu as usize) {
            *lost = lost_of(&instance, *cpu, head.chosen.is_last)?;
        }
    }
    Ok(lost)
}
