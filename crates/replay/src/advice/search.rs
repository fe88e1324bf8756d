//! Which call sites should have a cache of their own, and which size class is missing: everything worth trying
//! is tried, and ranked by what it saves.
//!
//! How it works: one replay of the whole trace says how much each kmalloc site wastes, how its objects lie, and when
//! the machine held most. The sites that hold enough to matter are then tried one by one, each with a cache of its
//! own ([`crate::advice::trial`]), and so is, for each class, the one further size class that fits the sites in it
//! best. What is saved is the difference to the same classes as recorded ([`crate::advice::judge`]).

use std::collections::BTreeMap;

use slablab_kmem::BackendKind;
use slablab_trace::{Meta, TraceReader};

use crate::advice::judge::{Candidate, WORTH_BYTES_MIN, best_first, judge};
use crate::advice::result::{Advice, AdviceList, Change};
use crate::advice::survey::{ClassSet, Classes, Survey, survey};
use crate::advice::trial::{Trial, try_all};
use crate::change::changes::Changes;
use crate::change::select::{SelectError, function};
use crate::engine::caches;
use crate::engine::lanes::replay;
use crate::error::Error;
use crate::metrics::result::{Replay, Site};
use crate::plan::{Plan, Start};

/// Changes to try: what 1 GiB of memory and ten seconds carry.
const TRIALS_MAX: usize = 256;
/// Where fewer frees were seen, what a site's objects do is not known.
const FREES_SEEN_SHARE_MIN: f64 = 0.9;
/// Memory of a trial's machine at the least.
const TRIAL_BYTES_MIN: u64 = 64 << 20;
/// A class of which one site saves more than this share is that site's cache by another name.
const ONE_SITE_SHARE: f64 = 0.9;

/// Tries what is worth trying on a trace under one allocator.
///
/// # Errors
///
/// As [`crate::replay()`], and [`Error::SharedPages`] for an allocator whose caches share pages: there
/// a cache of its own changes nothing.
pub fn advise(
    reader: &TraceReader,
    kind: BackendKind,
    memory_bytes: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<AdviceList, Error> {
    if !matches!(kind.name(), "slub" | "slab") {
        return Err(Error::SharedPages { allocator: kind.name().to_owned() });
    }
    let meta = reader.meta();
    if meta.sites.is_empty() {
        return Err(Error::Select(SelectError::NoSites));
    }
    let plan = Plan { allocators: vec![kind], memory_bytes, start: Start::Cold, ..Plan::default() };
    let whole = replay(reader, &plan, progress)?;
    let classes = Classes::new(&caches::kmalloc(meta, &Changes::default()).classes);
    let survey = survey(reader, meta, &classes)?;
    let mut search =
        Search { meta, plan, whole: &whole, classes, survey, candidates: Vec::new(), untried: 0 };
    let (sites_too_small, sites_unseen) = search.sites();
    search.size_classes();
    let advice = search.tried(reader, kind, progress)?;
    Ok(AdviceList {
        allocator: kind.name().to_owned(),
        held_bytes_peak: whole.allocators[0].held_bytes.peak,
        sites: search.survey.classes.iter().filter(|classes| !classes.is_empty()).count() as u64,
        sites_too_small,
        sites_unseen,
        untried: search.untried,
        advice,
        recorded: whole.sites,
        trace: whole.trace,
    })
}

/// Candidates in the making.
struct Search<'a> {
    meta: &'a Meta,
    plan: Plan,
    whole: &'a Replay,
    classes: Classes,
    survey: Survey,
    candidates: Vec<Candidate<'a>>,
    /// Candidates that were left out
    untried: u64,
}

impl<'a> Search<'a> {
    /// Returns the kmalloc sites with their places in the trace's table.
    fn kmalloc_sites(&self) -> Vec<(usize, &'a Site, ClassSet)> {
        let place: BTreeMap<&str, usize> =
            self.meta.sites.iter().enumerate().map(|(i, site)| (site.name.as_str(), i)).collect();
        let sites = self.whole.sites.iter().filter(|site| site.cache.is_empty());
        sites
            .filter_map(|site| {
                let index = *place.get(site.site.as_str())?;
                let classes = self.survey.classes[index];
                (!classes.is_empty()).then_some((index, site, classes))
            })
            .collect()
    }

    /// Adds a cache of its own for every site that holds enough; returns how many do not, and of how many it is not
    /// known, as too many of their objects were freed unseen.
    fn sites(&mut self) -> (u64, u64) {
        let (mut too_small, mut unseen) = (0, 0);
        for (index, site, classes) in self.kmalloc_sites() {
            let class_bytes =
                classes.iter().map(|class| self.classes.bytes(class)).max().map_or(0, u64::from);
            let held = site.live_peak * class_bytes;
            if held < WORTH_BYTES_MIN {
                too_small += 1;
                continue;
            }
            if site.frees_seen_share() < FREES_SEEN_SHARE_MIN {
                unseen += 1;
                continue;
            }
            let cache = function(&site.site).to_owned();
            self.candidates.push(Candidate {
                // A function may have several sites: a site's whole name tells their caches apart.
                changes: Changes::default().dedicate(&site.site, vec![index as u32]),
                change: Change::Dedicate { cache },
                classes,
                site,
                index,
                subject: site.site.clone(),
                class_bytes,
                object_bytes: self.meta.sites[index].bytes_req_max,
                live_peak: site.live_peak,
                estimate: site.under[0].waste_bytes_peak.max(held / 16),
            });
        }
        (too_small, unseen)
    }

    /// Adds, for each class, the further class that would save its sites most.
    fn size_classes(&mut self) {
        let mut by_class: BTreeMap<u32, Vec<(usize, &'a Site, u64)>> = BTreeMap::new();
        for (index, site, classes) in self.kmalloc_sites() {
            let bytes = self.meta.sites[index].bytes_req_max.div_ceil(8) * 8;
            // A site that spreads over classes says nothing about any one of them.
            let mut all = classes.iter();
            if let (Some(class), None) = (all.next(), all.next()) {
                by_class.entry(class).or_default().push((index, site, bytes));
            }
        }
        for (class, sites) in by_class {
            let class_bytes = u64::from(self.classes.bytes(class));
            let saves = |size: u64| {
                let fitting = sites.iter().filter(move |(_, _, bytes)| *bytes <= size);
                fitting.map(move |(_, site, _)| site.live_peak * (class_bytes - size))
            };
            let sizes = sites.iter().map(|(_, _, bytes)| *bytes).filter(|b| *b < class_bytes);
            let estimates = sizes.map(|size| (saves(size).sum::<u64>(), size));
            let Some((estimate, bytes)) = estimates.max() else { continue };
            let most = saves(bytes).max().unwrap_or(0);
            if estimate < WORTH_BYTES_MIN || most as f64 > estimate as f64 * ONE_SITE_SHARE {
                continue;
            }
            let fitting = || sites.iter().filter(|(_, _, fits)| *fits <= bytes);
            let largest = fitting().max_by_key(|(_, site, _)| site.live_peak);
            let Some(&(index, site, _)) = largest else { continue };
            let live_peak = fitting().map(|(_, site, _)| site.live_peak).sum();
            let mut set = ClassSet::default();
            set.add(class);
            let bytes = bytes as u32;
            self.candidates.push(Candidate {
                changes: Changes { classes: Some(self.classes.with(bytes)), ..Changes::default() },
                change: Change::Class { bytes },
                classes: set,
                site,
                index,
                subject: format!("kmalloc-{class_bytes}"),
                class_bytes,
                object_bytes: u64::from(bytes),
                live_peak,
                estimate,
            });
        }
    }

    /// Tries the candidates, those that may save most first, and returns the results.
    fn tried(
        &mut self,
        reader: &TraceReader,
        kind: BackendKind,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<Advice>, Error> {
        self.candidates
            .sort_by(|a, b| b.estimate.cmp(&a.estimate).then_with(|| a.subject.cmp(&b.subject)));
        self.untried = self.candidates.len().saturating_sub(TRIALS_MAX) as u64;
        self.candidates.truncate(TRIALS_MAX);
        let dedicated = self.candidates.iter().flat_map(|candidate| &candidate.changes.dedicated);
        let all = Changes { dedicated: dedicated.cloned().collect(), ..Changes::default() };
        let meta = all.meta(self.meta);
        let tried = |trials: &[Trial], progress: &mut dyn FnMut(u64)| {
            let peak_event = self.whole.allocators[0].peak_event;
            try_all(reader, &meta, kind, &self.classes, trials, peak_event, progress)
        };
        let (recorded, trials) = self.trials(trial_memory_bytes(self.whole, &self.plan));
        let mut results = tried(&trials, progress)?;
        if results.iter().any(|result| result.allocator.failed > 0) {
            let (_, trials) = self.trials(self.plan.memory_bytes);
            results = tried(&trials, progress)?;
        }
        let first = results.len() - self.candidates.len();
        let pairs = self.candidates.iter().zip(&results[first..]);
        let mut advice: Vec<_> = pairs
            .map(|(candidate, after)| {
                judge(candidate, &results[recorded[&candidate.classes]], after)
            })
            .collect();
        advice.sort_by(best_first);
        Ok(advice)
    }

    /// Returns the trials on machines of so much memory, one for each candidate in their order, and before those the
    /// classes as recorded, whose places come with them.
    fn trials(&self, memory_bytes: u64) -> (BTreeMap<ClassSet, usize>, Vec<Trial>) {
        let plan = Plan { memory_bytes, ..self.plan.clone() };
        let mut trials = Vec::new();
        let mut recorded = BTreeMap::new();
        for candidate in &self.candidates {
            recorded.entry(candidate.classes).or_insert_with(|| {
                trials.push(Trial { plan: plan.clone(), classes: candidate.classes });
                trials.len() - 1
            });
        }
        for candidate in &self.candidates {
            let plan = Plan { changes: candidate.changes.clone(), ..plan.clone() };
            trials.push(Trial { plan, classes: candidate.classes });
        }
        (recorded, trials)
    }
}

/// Returns how much memory a trial's machine needs: several times what the whole machine held, of which it replays a
/// part. All of [`Plan::memory_bytes`] would do, but making a machine touches the first page of each free block of
/// its memory, 4,000 in 16 GiB, and there are a hundred machines.
fn trial_memory_bytes(whole: &Replay, plan: &Plan) -> u64 {
    let held = whole.allocators[0].held_bytes.peak;
    held.saturating_mul(4).max(TRIAL_BYTES_MIN).min(plan.memory_bytes)
}
