//! Makes the trace of a recording whose events are in its folder.
//!
//! # How it works
//! The pages are read twice: once to find out which allocations are never freed by an event, where slabinfo was sampled, and
//! once to write the trace. Events of the recorder's own threads are left out. When the trace is at its path, the folder
//! is removed; whatever goes wrong before leaves it as it is, so that the same can be tried again.

use std::time::Duration;

use slablab_host::Signals;

use super::called::Called;
use super::filter::places;
use super::first_look::FirstLook;
use super::head::{ChosenParts, Head, Tail};
use super::machine;
use super::options::{Keep, RecordSummary};
use super::own::WithoutOwn;
use super::pages::{Pages, Pass};
use super::paired::Paired;
use super::unfinished::Unfinished;
use super::until::Until;
use crate::cgroups::Cgroups;
use crate::import::{Importer, Unfreed};
use crate::source::Source;
use crate::symbols::Place;
use crate::{Addresses, Error, Meta, Progress, RecordedCache, Symbols, TraceWriter};

/// Makes the trace and removes the folder.
pub(super) fn process(
    unfinished: Unfinished,
    writer: TraceWriter,
    look: Option<FirstLook>,
    signals: &mut Signals,
    progress: &mut dyn FnMut(Progress),
) -> Result<RecordSummary, Error> {
    let written = write(&unfinished, writer, look, signals, progress);
    let summary = written.map_err(|error| unfinished.kept(&error))?;
    unfinished.remove();
    Ok(summary)
}

fn write(
    unfinished: &Unfinished,
    writer: TraceWriter,
    look: Option<FirstLook>,
    signals: &mut Signals,
    progress: &mut dyn FnMut(Progress),
) -> Result<RecordSummary, Error> {
    let head = unfinished.head()?;
    let tail = unfinished.tail().unwrap_or_default();
    // Modules that came while it was recorded are known to the kernel that still runs.
    let symbols = match machine::is_of_this_boot(&head.meta) {
        true => Symbols::running()?,
        false => unfinished.symbols()?,
    };
    let pages = Pages::open(unfinished, &head)?;
    let mut meta = begin_meta(&head, &tail);
    let addresses = if head.chosen.is_stripped { Addresses::Strip } else { Addresses::Keep };
    let importer = Importer::new(writer.addresses(addresses), unfinished.output());
    let mut importer = Part { pages: &pages, tail: &tail, chosen: &head.chosen }
        .samples(importer, look, &mut meta, &symbols, signals, progress)?;
    let source = Until::new(pages.source(Pass::Last, symbols.clone())?, tail.until_ns, signals);
    let callers = places(&symbols, &head.chosen.callers)?;
    let is_part = !head.chosen.sites.is_empty() || !callers.is_empty();
    let source = Called::new(WithoutOwn::new(source, head.pid), &callers);
    let mut source = Paired::new(source);
    match is_part {
        false => importer.read(&mut source.source, progress)?,
        true => importer.read(&mut source, progress)?,
    }
    let raw = &source.source.source.source.source;
    // What the pages themselves say was missed can only be more exact than the statistics.
    meta.quality.lost = tail.lost;
    meta.quality.lost.resize(meta.cpus as usize, 0);
    let missed = raw.source().into_iter().flat_map(|raw| raw.source.missed());
    for (cpu, missed) in missed.filter(|_| !head.chosen.is_last) {
        if let Some(lost) = meta.quality.lost.get_mut(cpu as usize) {
            *lost = missed.max(*lost);
        }
    }
    // The kernel's statistics do not know what was lost on the disk.
    for (cpu, damaged) in raw.source().into_iter().flat_map(|raw| raw.source.damaged()) {
        if let Some(lost) = meta.quality.lost.get_mut(cpu as usize) {
            *lost = lost.saturating_add(damaged);
        }
    }
    meta.quality.gaps_uncounted = raw.facts().meta.quality.gaps_uncounted;
    meta.comms.extend(raw.facts().meta.comms.clone());
    let changes = raw.facts().cgroup_changes.clone();
    meta.cgroups = Cgroups::follow(&head.cgroups, changes, &tail.cgroups);
    let (writer, mut meta) = importer.finish(raw, meta)?;
    if tail.missed_calls > 0 {
        meta.quality.skip_many("bulk calls that a probe missed", tail.missed_calls, String::new);
    }
    for (count, reason) in [
        (tail.unfollowed, "objects that were not followed, as too many others were"),
        (
            tail.unlooked,
            "events during the look at another, which may have been of what was chosen",
        ),
        (tail.passed_over, "allocations of --callers that were taken for others' (estimated)"),
        (
            tail.too_deep,
            "allocations whose stack has more than 64 frames, in which --callers may be",
        ),
    ] {
        if count > 0 {
            meta.quality.skip_many(reason, count, String::new);
        }
    }
    let meta = writer.finish(meta)?;
    Ok(RecordSummary {
        exit_status: tail.status.unwrap_or(0),
        elapsed: Duration::from_nanos(tail.elapsed_ns),
        keep: if head.chosen.is_last { Keep::Last } else { Keep::All },
        write_share: tail.write_share,
        left_running: tail.left_running,
        slab_reached: tail.slab_reached,
        silent: silent(&head.chosen.sites, &meta, &symbols),
        silent_caches: silent_caches(&head.chosen.caches, &meta),
        silent_callers: silent_callers(&head.chosen.callers, &meta, &symbols),
        meta,
    })
}

/// Returns what the trace says of itself, as far as it is known before the events are read.
fn begin_meta(head: &Head, tail: &Tail) -> Meta {
    Meta {
        command_status: tail.status,
        end_unix_ns: tail.end_unix_ns,
        slabs_end: tail.slabs_end.clone(),
        samples: tail.samples.clone(),
        zones: tail.zones.clone(),
        ended_early: tail.ended_early.clone(),
        ..head.meta.clone()
    }
}

/// What an importer concludes from samples of slabinfo, of what was chosen to be recorded.
struct Part<'a> {
    pages: &'a Pages,
    tail: &'a Tail,
    chosen: &'a ChosenParts,
}

impl Part<'_> {
    /// Has an importer conclude what slabinfo tells of objects that were freed without an event.
    fn samples(
        &self,
        mut importer: Importer,
        look: Option<FirstLook>,
        meta: &mut Meta,
        symbols: &Symbols,
        signals: &mut Signals,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Importer, Error> {
        meta.samples.caches.retain(|name, _| self.chosen.is_whole(name));
        if !meta.samples.caches.is_empty() {
            let looked = look.map(|look| look.go_on(self.pages, &meta.samples, symbols));
            let (source, unfreed) = match looked.transpose()?.flatten() {
                Some(looked) => looked,
                None => {
                    (self.pages.source(Pass::First, symbols.clone())?, Unfreed::new(&meta.samples))
                }
            };
            let source = Until::new(source, self.tail.until_ns, signals);
            let mut unfreed = look_at_all(source, unfreed, progress)?;
            unfreed.take_off_own(&mut meta.samples);
            unfreed.tell_cpu_slabs(&mut meta.samples, meta.cpus);
            importer = importer.sampled(&meta.samples, unfreed, meta.cpus);
        }
        meta.samples.thin();
        Ok(match self.chosen.one_in {
            Some(one_in) => importer.portion(one_in),
            None => importer,
        })
    }
}

/// Finds out which allocations are never freed by an event, and what comes and goes between two samples.
fn look_at_all(
    mut source: impl Source,
    mut unfreed: Unfreed,
    progress: &mut dyn FnMut(Progress),
) -> Result<Unfreed, Error> {
    let mut events = Vec::new();
    while source.read(&mut events)? {
        unfreed.name(source.facts());
        unfreed.note_all(&events);
        events.clear();
        progress(Progress { phase: "matching", ..source.facts().progress() });
    }
    Ok(unfreed.finish())
}

/// Returns those of `sites` that no event names, with the parts that the compiler made of each: what is called by the
/// function's name may be in one of them.
fn silent(sites: &[String], meta: &Meta, symbols: &Symbols) -> Vec<(String, Vec<String>)> {
    unnamed(sites, meta.sites.iter().map(|site| &site.name[..]), symbols)
}

/// Returns those of `callers` that no stack goes through, with the parts that the compiler made of each.
fn silent_callers(
    callers: &[String],
    meta: &Meta,
    symbols: &Symbols,
) -> Vec<(String, Vec<String>)> {
    let frames = (0..meta.stacks.frames_len() as u32).map(|frame| meta.stacks.frame(frame));
    unnamed(callers, frames.map(|frame| &frame.name[..]), symbols)
}

/// Returns those of `wanted` that none of `recorded` is of, with the parts that the compiler made of each.
fn unnamed<'a>(
    wanted: &[String],
    recorded: impl Iterator<Item = &'a str>,
    symbols: &Symbols,
) -> Vec<(String, Vec<String>)> {
    let recorded: Vec<Place<'_>> = recorded.filter_map(Place::parse).collect();
    let is_silent = |wanted: &&String| {
        let wanted = Place::parse(wanted);
        wanted.is_none_or(|wanted| !recorded.iter().any(|place| place.is_of(&wanted)))
    };
    let silent = wanted.iter().filter(is_silent);
    silent.map(|name| (name.clone(), symbols.parts(name))).collect()
}

/// Returns those of `caches` that no event names: they were idle, or their objects are allocated as kmalloc's are.
fn silent_caches(caches: &[String], meta: &Meta) -> Vec<String> {
    let is_of = |cache: &RecordedCache, name: &String| {
        (cache.name == *name || cache.aliases.contains(name))
            && cache.allocs + cache.frees + cache.older_frees > 0
    };
    let is_silent = |name: &&String| !meta.caches.iter().any(|cache| is_of(cache, name));
    caches.iter().filter(is_silent).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Site;

    /// What is called by its name may be compiled into a part of another, and nothing was said of it.
    #[test]
    fn a_function_without_events_is_named_with_its_parts() {
        let symbols = Symbols::parse("1000 t f\n1100 t f.part.0\n1200 t g\n1300 t ff\n");
        let site = |name: &str| Site { name: name.into(), ..Site::default() };
        let meta = Meta { sites: vec![site("g+0x4 [mod]"), site("ff+0x2")], ..Meta::default() };
        let wanted = ["f", "g", "ff+0x2"].map(str::to_owned);
        assert_eq!(silent(&wanted, &meta, &symbols), [("f".into(), vec!["f.part.0".into()])]);
    }

    /// A caller with an offset was called silent, whatever came from it, and the command ended with status 1.
    #[test]
    fn a_caller_named_with_its_offset_or_its_module_is_not_silent_where_a_stack_has_it() {
        let symbols = Symbols::default();
        let recorded = ["f+0x1c", "g+0x4 [mod]"];
        let silent = |wanted: &str| {
            let silent = unnamed(&[wanted.to_owned()], recorded.into_iter(), &symbols);
            !silent.is_empty()
        };
        for wanted in ["f", "f+0x1c", "f+0x01C", "f+1c", "g", "g+0x4", "g [mod]", "g+0x4 [mod]"] {
            assert!(!silent(wanted), "{wanted}");
        }
        for wanted in ["f+0x1d", "f [mod]", "g [other]", "h"] {
            assert!(silent(wanted), "{wanted}");
        }
    }

    /// Objects of msg_msg-1k, a bucket of kmem_buckets_create(), have events of kmalloc: the recording was empty, in silence.
    #[test]
    fn a_cache_that_no_event_names_is_told() {
        let cache =
            |name: &str, allocs| RecordedCache { name: name.into(), allocs, ..Default::default() };
        let meta = Meta { caches: vec![cache("filp", 1), cache("pid", 0)], ..Meta::default() };
        let wanted = ["filp", "pid", "msg_msg-1k"].map(str::to_owned);
        assert_eq!(silent_caches(&wanted, &meta), ["pid", "msg_msg-1k"]);
    }
}
