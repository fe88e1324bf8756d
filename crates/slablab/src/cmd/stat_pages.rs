//! `slablab stat --pages`: who takes pages, by order, migrate type, flags, owner, program and others; with `--compat perf`
//! the numbers of `perf kmem --page --caller --alloc stat`.

use std::path::Path;

use anyhow::{Result, bail};
use slablab_linux::Release;
use slablab_replay::{
    PageBy, PageLabels, PerfPageAlloc, PerfPages, TraceFacts, page_groups, page_holdings,
    page_waits, passes,
};
use slablab_trace::{Format, Input, Meta, NO_PAGE, PageKind, Source};

use super::filter::FilterArgs;
use super::groups::GroupArgs;
use super::import;
use crate::answers::groups::MomentLine;
use crate::answers::pages::{PageTable, PagesAnswer, PagesView};
use crate::answers::perf_pages::PerfPagesAnswer;
use crate::progress::Progress;

/// What is shown where no groups are asked for; the first screen has those that are marked.
const TABLES: [(PageBy, &str, bool); 9] = [
    (PageBy::Owner, "owner", true),
    (PageBy::Order, "order", true),
    (PageBy::MigrateType, "migrate type", true),
    (PageBy::Program, "program", true),
    (PageBy::Gfp, "gfp", false),
    (PageBy::Use, "use", false),
    (PageBy::Site, "site", false),
    (PageBy::Module, "module", false),
    (PageBy::Stack, "stack", false),
];

/// Counts the page events of a trace.
pub(crate) fn of_trace(
    path: &Path,
    groups: &GroupArgs,
    filter: &FilterArgs,
) -> Result<PagesAnswer> {
    let trace = import::open_pages(path, filter)?;
    let meta = trace.meta();
    let Some(pages) = &meta.pages else {
        bail!(
            "{}: holds no events of pages{}; record some with `slablab record --pages` or `perf kmem --page record`",
            path.display(),
            if filter.is_empty() { "" } else { " in the part that is asked for" }
        );
    };
    let when = groups.moments.when(path, meta)?;
    let total = pages.events.saturating_mul(passes(&when));
    let mut progress = Progress::default();
    let holdings = page_holdings(&trace, &when, &mut |done| {
        let (phase, unit) = ("counting", "events");
        progress.step(slablab_trace::Progress { phase, done, total, unit });
    })?;
    drop(progress);
    let labels = PageLabels::new(meta, &holdings, &groups.moments.helper);
    let is_growth = groups.moments.growth.is_some();
    let seconds = pages.time_last_ns.saturating_sub(pages.time_first_ns) as f64 / 1e9;
    let table = |by: &[PageBy], names: Vec<String>| {
        PageTable::new(names, page_groups(&holdings, &labels, by), is_growth, seconds)
    };
    let has_stacks = holdings.holders.iter().any(|one| one.holder.stack != slablab_trace::NONE);
    let mut tables = Vec::new();
    let asked = groups.by_of_pages();
    if !asked.is_empty() {
        let (by, names): (Vec<PageBy>, Vec<String>) = asked.into_iter().unzip();
        tables.push(PageTable { is_first: true, ..table(&by, names) });
        tables.push(table(&[PageBy::Use], vec!["use".to_owned()]));
    } else {
        for (by, name, is_first) in TABLES {
            let of_stacks = [PageBy::Owner, PageBy::Site, PageBy::Module, PageBy::Stack];
            if !has_stacks && of_stacks.contains(&by) {
                continue;
            }
            // Without stacks the flags tell most of who asked.
            let is_first = is_first || by == PageBy::Gfp && !has_stacks;
            tables.push(PageTable { is_first, ..table(&[by], vec![name.to_owned()]) });
        }
    }
    let first_ns = pages.time_first_ns;
    let times = holdings.times_ns.iter().map(|at| at.saturating_sub(first_ns));
    let moments = groups.moments.words().into_iter().zip(times);
    let moments: Vec<_> = moments.map(|(name, time_ns)| MomentLine { name, time_ns }).collect();
    let view = PagesView {
        file: path.display().to_string(),
        trace: Box::new(facts(meta, pages.events)),
        is_growth,
    };
    let total = table(&[], Vec::new());
    let page_bytes = Some(u64::from(meta.page_bytes)).filter(|bytes| *bytes > 0);
    let waits = page_waits(&trace)?;
    Ok(PagesAnswer::new(page_bytes, (moments, tables, total), &holdings, &waits, pages, view))
}

/// Returns the facts of a trace, with its page events for events.
pub(super) fn facts(meta: &Meta, events: u64) -> TraceFacts {
    let quality = &meta.quality;
    let (lost, skipped) = (quality.lost_total(), quality.skipped_total());
    let unplaced = meta.pages.as_ref().map_or(0, |pages| pages.older_frees + pages.implicit_frees);
    let all = events.saturating_add(lost).saturating_add(skipped).max(1);
    TraceFacts {
        events,
        implicit_frees: meta.pages.as_ref().map_or(0, |pages| pages.implicit_frees),
        older_frees: meta.pages.as_ref().map_or(0, |pages| pages.older_frees),
        lacks: Vec::new(),
        unplaced_share: (unplaced.saturating_add(lost).saturating_add(skipped)) as f64 / all as f64,
        ..TraceFacts::new(meta)
    }
}

/// Counts a perf.data as perf does.
pub(crate) fn of_perf_data(path: &Path, lines: Option<usize>) -> Result<PerfPagesAnswer> {
    let input = Input::open(path)?;
    if input.is_parquet() {
        bail!(
            "{}: a trace holds no numbers of pages, and perf counts by these; give the perf.data that it was imported from, \
             or leave out --compat",
            path.display()
        );
    }
    let mut source = slablab_trace::read_raw(input, Some(Format::PerfData))?;
    let mut perf = None;
    let mut progress = Progress::default();
    let (mut events, mut sites) = (Vec::new(), CallSites::default());
    loop {
        events.clear();
        if !source.read(&mut events)? {
            break;
        }
        progress.step(source.facts().progress());
        let page_bytes = source.facts().meta.page_bytes;
        let perf = perf.get_or_insert_with(|| PerfPages::new(page_bytes));
        for event in &events {
            let Some(page) = event.page else { continue };
            let order = u32::from(page.order);
            match page.kind {
                PageKind::Alloc => perf.alloc(&PerfPageAlloc {
                    callsite: sites.of(source.as_ref(), event.stack),
                    page: (event.ptr != NO_PAGE).then_some(event.ptr),
                    order,
                    migrate_type: page.migrate_type.into(),
                    gfp: event.gfp,
                }),
                PageKind::Free => perf.free(event.ptr, order),
                _ => {}
            }
        }
    }
    drop(progress);
    let perf = perf.filter(|perf| perf.totals() != Default::default());
    let Some(perf) = perf else {
        bail!(
            "{}: holds no events of pages; record them with `perf kmem --page record`",
            path.display()
        );
    };
    let facts = source.facts();
    let name = |address: u64| match address {
        0 => "(no call chain)".to_owned(),
        address => {
            let name = facts.symbols.site_name(address);
            name.split('+').next().unwrap_or_default().to_owned()
        }
    };
    let release = Release::of(&facts.meta.kernel_release);
    Ok(PerfPagesAnswer::new(&perf, release, lines, name))
}

/// The call sites of call chains as perf finds them: the first address outside of functions of the page allocator's names.
#[derive(Default)]
struct CallSites {
    by_stack: Vec<Option<u64>>,
}

impl CallSites {
    fn of(&mut self, source: &dyn Source, stack: u32) -> u64 {
        let facts = source.facts();
        let place = stack as usize;
        if stack == slablab_trace::NONE {
            return 0;
        }
        self.by_stack.resize(self.by_stack.len().max(place + 1), None);
        *self.by_stack[place].get_or_insert_with(|| {
            let addresses = facts.names.stack_addresses(stack);
            let is_other = |address: &u64| !is_allocator(&facts.symbols.site_name(*address));
            addresses.into_iter().find(is_other).unwrap_or(0)
        })
    }
}

/// Returns whether perf takes a function for one of the page allocator: `^_?_?(alloc|get_free|get_zeroed)_pages?`.
fn is_allocator(name: &str) -> bool {
    let name = name.strip_prefix("__").or(name.strip_prefix('_')).unwrap_or(name);
    ["alloc_page", "get_free_page", "get_zeroed_page"].iter().any(|begin| name.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_page_allocator_are_those_whose_names_perf_knows() {
        for name in [
            "alloc_pages_mpol+0x86",
            "__alloc_pages_noprof+0x1",
            "_get_free_page",
            "alloc_page_buffers",
        ] {
            assert!(is_allocator(name), "{name}");
        }
        for name in ["__alloc_frozen_pages_noprof+0x26b", "___alloc_pages", "folio_alloc"] {
            assert!(!is_allocator(name), "{name}");
        }
    }
}
