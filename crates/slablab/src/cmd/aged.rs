//! The option of commands that say what the rest of a machine sees of slabs: free lists to begin with.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use slablab_host::printable;
use slablab_kmem::BackendKind;
use slablab_replay::{
    Allocator, OrderRoom, Replay, ReplayPlan, RestOfMachine, RestPlan, Setting, replay,
    replay_pages, rest_of_machine, rest_of_setting,
};
use slablab_trace::{TraceReader, Zone, Zones};

use crate::output::bytes as format_bytes;
use crate::progress::Progress;

/// No machine's texts are longer.
const TEXT_BYTES_MAX: u64 = 64 << 20;

/// The option.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct AgedArgs {
    /// Begin as this zoneinfo and pagetypeinfo say
    #[arg(long, value_name = "FILE")]
    aged: Option<PathBuf>,
}

impl AgedArgs {
    pub(crate) fn is_given(&self) -> bool {
        self.aged.is_some()
    }

    /// Returns whether the rest of the machine is known: by the events of pages of a whole trace, or by what the option names.
    ///
    /// # Errors
    /// If the option is given and a replay under this plan makes no slabs that could be put on a machine of pages.
    pub(crate) fn is_asked(
        &self,
        trace: &TraceReader,
        is_whole: bool,
        plan: &ReplayPlan,
    ) -> Result<bool> {
        let pages = trace.meta().pages.as_ref().filter(|pages| pages.events > 0);
        if self.is_given() && pages.is_some() {
            bail!(
                "--aged: the trace has events of pages, which are of the machine that it was recorded on: leave out --aged"
            );
        }
        let has_pages = is_whole && pages.is_some();
        let makes_slabs = plan.allocators.first().is_some_and(|kind| kind.takes_geometry());
        let has_own_pages = plan.changes.page_bytes.is_some();
        if self.is_given() && (!makes_slabs || has_own_pages) {
            bail!(
                "--aged: only slabs of SLUB with the recorded kernel's pages can be put on its free lists: leave out --aged, or \
                 other allocators and --page-size"
            );
        }
        Ok((has_pages || self.is_given()) && makes_slabs && !has_own_pages)
    }

    /// Returns what the rest of the machine sees of a setting; `None` where nothing is known of it.
    pub(crate) fn rest_of_setting(
        &self,
        trace: &TraceReader,
        is_whole: bool,
        kind: BackendKind,
        setting: Option<&Setting>,
    ) -> Result<Option<RestOfMachine>> {
        let plan = ReplayPlan { allocators: vec![kind], ..ReplayPlan::default() };
        let Some(setting) = setting.filter(|setting| !setting.is_recorded()) else {
            return Ok(None);
        };
        if !self.is_asked(trace, is_whole, &plan)? {
            return Ok(None);
        }
        let aged = self.zones()?;
        let plan = RestPlan { aged: aged.as_ref(), memory_bytes: memory_bytes(trace), order: None };
        let rows = trace.meta().events.saturating_add(plan.rows(trace.meta(), true));
        let progress = Progress::new("pages", rows);
        let mut told = |done| progress.set(done);
        self.with_name(rest_of_setting(trace, kind, setting, plan, &mut told))
    }

    /// Puts the name of the file before what is wrong with the zones that it describes.
    fn with_name<T>(&self, rest: std::result::Result<T, slablab_replay::Error>) -> Result<T> {
        let Some(path) = &self.aged else { return Ok(rest?) };
        rest.with_context(|| format!("--aged: {}", path.display()))
    }

    /// Returns what can be had of an order of blocks: by the events of pages, or on the machine that the option names.
    pub(crate) fn order_room(
        &self,
        trace: &TraceReader,
        kind: BackendKind,
        order: u8,
    ) -> Result<OrderRoom> {
        let meta = trace.meta();
        let plan = ReplayPlan::of_slab_pages(kind);
        let is_known = self.is_asked(trace, true, &plan)?;
        let aged = self.zones()?;
        let rest =
            RestPlan { aged: aged.as_ref(), memory_bytes: memory_bytes(trace), order: Some(order) };
        let has_pages = meta.pages.as_ref().is_some_and(|pages| pages.events > 0);
        if has_pages {
            let progress = Progress::new("pages", rest.rows(meta, false) / 2);
            let replay = replay_pages(trace, rest, &mut |done| progress.set(done))?;
            return Ok(OrderRoom::of(order, &replay));
        }
        if !is_known {
            bail!(
                "--order: the trace has no events of pages: record with --pages, or name the free lists of a machine \
                 (--aged FILE)"
            );
        }
        let progress = Progress::new("replaying slabs", meta.events);
        let slabs = replay(trace, &plan, &mut |done| progress.set(done))?;
        drop(progress);
        let Some(slabs) = slabs.allocators.first() else { bail!("no allocator was replayed") };
        let rest = rest_of_machine(trace, rest, slabs, None, &mut |_| ());
        Ok(OrderRoom::of(order, &self.with_name(rest)?.before))
    }

    /// Returns the name of the file that is given.
    pub(crate) fn file(&self) -> Option<String> {
        self.aged.as_ref().map(|path| path.display().to_string())
    }

    fn zones(&self) -> Result<Option<Zones>> {
        self.aged.as_deref().map(zones).transpose()
    }

    /// Returns what the rest of the machine sees of the first allocator's slabs; `None` where nothing is known of it.
    pub(crate) fn rest(
        &self,
        trace: &TraceReader,
        (before, after): (&Replay, Option<&Replay>),
        plan: &ReplayPlan,
    ) -> Result<Option<RestOfMachine>> {
        let Some(before) = before.allocators.first().filter(|_| plan.slab_pages) else {
            return Ok(None);
        };
        let after: Option<&Allocator> = after.and_then(|after| after.allocators.first());
        let aged = self.zones()?;
        let plan = RestPlan { aged: aged.as_ref(), memory_bytes: memory_bytes(trace), order: None };
        let progress = Progress::new("pages", plan.rows(trace.meta(), after.is_some()));
        let mut told = |done| progress.set(done);
        self.with_name(rest_of_machine(trace, plan, before, after, &mut told)).map(Some)
    }
}

/// Returns the memory of a machine whose zones are not told.
fn memory_bytes(trace: &TraceReader) -> u64 {
    match trace.meta().memory_bytes {
        0 => ReplayPlan::memory_bytes_usual(trace.meta()),
        recorded => recorded,
    }
}

/// Reads the zones of a machine.
fn zones(path: &Path) -> Result<Zones> {
    let mut bytes = Vec::new();
    let file = File::open(path);
    let read = file.and_then(|file| file.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes));
    let read = read.with_context(|| format!("--aged: {}", path.display()))?;
    if read as u64 > TEXT_BYTES_MAX {
        bail!(
            "--aged: {}: has more than {}, and no machine's zoneinfo and pagetypeinfo are as long: make it by \
             cat /proc/zoneinfo /proc/pagetypeinfo > FILE",
            path.display(),
            format_bytes(TEXT_BYTES_MAX)
        );
    }
    let (zoneinfo, types) = parts(&String::from_utf8_lossy(&bytes));
    let zones = Zones::parse(0, &zoneinfo, &types);
    let has_lists = zones.zones.iter().any(|zone| !zone.free_blocks.is_empty());
    if !has_lists {
        bail!(
            "{}: has no zone with its free lists; make it as root: cat /proc/zoneinfo /proc/pagetypeinfo > FILE",
            path.display()
        );
    }
    if let Some(zone) = zones.zones.iter().find(|zone| free_pages(zone) > u128::from(zone.managed))
    {
        bail!(
            "--aged: {}: node {}, zone {} has {} free pages in its lists, and {} in all: zoneinfo and pagetypeinfo are not of \
             one machine, or damaged; make it as root: cat /proc/zoneinfo /proc/pagetypeinfo > FILE",
            path.display(),
            zone.node,
            printable(&zone.name),
            free_pages(zone),
            zone.managed
        );
    }
    Ok(zones)
}

/// Returns how many pages the free blocks of a zone have.
fn free_pages(zone: &Zone) -> u128 {
    let of_type = |orders: &Vec<u64>| -> u128 {
        (0..).zip(orders).map(|(order, blocks)| u128::from(*blocks) << order).sum()
    };
    zone.free_blocks.iter().map(of_type).sum()
}

/// Takes a text of `/proc/zoneinfo` and `/proc/pagetypeinfo`, in any order, apart.
fn parts(text: &str) -> (String, String) {
    let (mut zoneinfo, mut types) = (String::new(), String::new());
    let mut is_of_types = false;
    for line in text.lines() {
        // A zone's heading in zoneinfo has nothing behind its name.
        let is_heading = line.starts_with("Node ") && line.split_whitespace().count() == 4;
        is_of_types = line.starts_with("Page block order:") || is_of_types && !is_heading;
        let part = if is_of_types { &mut types } else { &mut zoneinfo };
        part.push_str(line);
        part.push('\n');
    }
    (zoneinfo, types)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It was cut, and what was behind was left out in silence.
    #[test]
    fn a_text_that_is_too_long_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(TEXT_BYTES_MAX + 1).unwrap();
        let said = zones(file.path()).unwrap_err().to_string();
        let name = file.path().display().to_string();
        assert!(said.contains(&name) && said.contains("more than 64.0 MiB"), "{said}");
    }

    #[test]
    fn one_text_may_hold_both_files_of_a_machine() {
        let zoneinfo = "Node 0, zone      DMA\n  pages free     3\n        min      1\n";
        let types = "Page block order: 9\nNode 0, zone      DMA, type    Unmovable      0      1\n";
        let apart = (zoneinfo.to_owned(), types.to_owned());
        assert_eq!(parts(&format!("{zoneinfo}{types}")), apart);
        assert_eq!(parts(&format!("{types}{zoneinfo}")), apart);
    }
}
