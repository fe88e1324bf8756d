//! Call sites that should have a cache of their own, and size classes that are missing: everything worth
//! trying is tried, and ranked by what it saves.
//!
//! # How it works
//! One replay of the whole trace tells how much each kmalloc site wastes, how its objects lie, and
//! when the machine held most. The sites that hold enough to matter are then tried one by one, each with a cache of
//! its own ([`crate::advice::trial`]). For each class, the one further size class that fits the sites in it best is
//! tried as well. The saving is the difference to the same classes as recorded ([`crate::advice::judge`]).

use std::collections::BTreeMap;

use slablab_kmem::{BackendKind, NODE_BYTES_MIN};
use slablab_linux::KmallocType;
use slablab_trace::{Meta, TraceReader};

use crate::advice::judge::{Candidate, best_first, judge, saving_bytes_min};
use crate::advice::noted::{self, unsuited};
use crate::advice::result::{Advice, AdviceList, Change, NotTried, NotedSite, Profile};
use crate::advice::trial::{Moments, Trial, try_all};
use crate::change::changes::Changes;
use crate::change::select::{SelectError, function};
use crate::engine::replay::replay;
use crate::engine::{caches, machine, need};
use crate::error::Error;
use crate::metrics::fit::SEEN_SHARE_MIN;
use crate::metrics::requests::{ClassSet, Classes, Requests, survey};
use crate::metrics::result::{Replay, Site};
use crate::plan::{ReplayPlan, Start};

/// Changes to try at most.
const TRIALS_MAX: usize = 256;
/// Rows that all trials replay together, at most. They take about a minute, and several where the machine has hundreds of CPUs,
/// as the simulated machines do not fit into a processor's caches then.
const TRIAL_ROWS_MAX: u64 = 1 << 28;
/// The machines of a pass need about this much together. With more the trace is read fewer times, and with less no faster.
const PASS_BYTES_MAX: u64 = 2 << 30;
/// Evenly spaced moments of a trace, enough to tell a lasting saving from one slab that comes and goes.
const MOMENTS: u64 = 64;
/// The least memory of a trial's machine.
const TRIAL_BYTES_MIN: u64 = 64 << 20;
/// The least memory of each of its nodes: several times what a node has to have.
const TRIAL_NODE_BYTES_MIN: u64 = 4 * NODE_BYTES_MIN;
/// If one site saves more than this share of what a class does, the class is that site's cache by
/// another name.
const ONE_SITE_SHARE: f64 = 0.9;

/// Tries everything worth trying on a trace under one allocator.
///
/// # Errors
///
/// Fails as [`crate::replay()`] does; returns [`Error::SharedPages`] for an allocator whose caches
/// share pages, where a cache of its own changes nothing.
pub fn advise(
    reader: &TraceReader,
    kind: BackendKind,
    memory_bytes: Option<u64>,
    progress: &mut dyn FnMut(u64),
) -> Result<AdviceList, Error> {
    if !kind.has_kmalloc_caches() {
        return Err(Error::SharedPages { allocator: kind.name().to_owned() });
    }
    let meta = reader.meta();
    if meta.sites.is_empty() {
        return Err(Error::Select(SelectError::NoSites));
    }
    let plan = ReplayPlan {
        allocators: vec![kind],
        memory_bytes,
        start: Start::Cold,
        ..ReplayPlan::default()
    };
    let counted = ReplayPlan { slow_paths: true, ..plan.clone() };
    let whole = replay(reader, &counted, progress)?;
    let classes = Classes::new(&caches::kmalloc(meta, &Changes::default()).classes);
    let survey = survey(reader, meta, &classes)?;
    let held_bytes_peak = whole.allocators[0].held_bytes.peak;
    let page_bytes = Changes::default().machine_page_bytes(meta);
    let saving_bytes_min =
        saving_bytes_min(held_bytes_peak, page_bytes, whole.trace.unplaced_share);
    let (candidates, left_out) = (Vec::new(), LeftOut::default());
    let has_frees = whole.sites.iter().any(|site| site.ended() > 0);
    let most_keep = has_frees && Site::most_keep(&whole.sites);
    let mut search = Search {
        meta,
        plan,
        whole: &whole,
        page_bytes,
        classes,
        survey,
        has_frees,
        most_keep,
        candidates,
        left_out,
        untried: 0,
    };
    search.sites();
    search.size_classes();
    let advice = search.tried(reader, kind, saving_bytes_min, progress)?;
    let (noted, left_out) = (search.noted(), std::mem::take(&mut search.left_out));
    let count = |why| left_out.why.values().filter(|known| **known == why).count() as u64;
    Ok(AdviceList {
        held_bytes_peak,
        slab_bytes_before: meta.samples.slab_bytes().first().copied().unwrap_or(0),
        saving_bytes_min,
        sites: search.survey.classes.iter().filter(|classes| !classes.is_empty()).count() as u64,
        sites_too_small: count(NotTried::TooSmall),
        most_keep,
        sites_unseen: count(NotTried::FreesUnseen),
        sites_own: count(NotTried::Own),
        sites_payload: count(NotTried::Payload),
        sites_helper: count(NotTried::Helper),
        many_sizes: noted::by_waste(left_out.many_sizes.iter()),
        over_class: noted::over_class(&noted),
        hot: noted::hot(noted),
        untried: search.untried,
        advice,
        not_tried: left_out.why,
        recorded: whole.sites,
        trace: whole.trace,
    })
}

/// Call sites that were rejected as candidates.
#[derive(Debug, Default)]
struct LeftOut {
    /// The reasons, by name of the site
    why: BTreeMap<String, NotTried>,
    many_sizes: Vec<NotedSite>,
}

/// Candidates in the making.
struct Search<'a> {
    meta: &'a Meta,
    plan: ReplayPlan,
    /// Bytes of a page of the recorded machine: a site that holds less cannot save a slab
    page_bytes: u64,
    whole: &'a Replay,
    classes: Classes,
    survey: Requests,
    /// A recording without any free tells nothing about leaks
    has_frees: bool,
    /// Whether most call sites keep what they allocate
    most_keep: bool,
    candidates: Vec<Candidate<'a>>,
    left_out: LeftOut,
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

    /// Returns every kmalloc site with the facts about its objects.
    fn noted(&self) -> Vec<NotedSite> {
        let note = |(index, site, _): (usize, &Site, ClassSet)| {
            let object_bytes = self.meta.sites[index].bytes_req_max;
            noted::note(&self.classes, site, object_bytes, self.profile(index, site))
        };
        self.kmalloc_sites().into_iter().filter_map(note).collect()
    }

    fn profile(&self, index: usize, site: &Site) -> Profile {
        let profile = noted::profile(self.meta, &self.survey, index, site, self.most_keep);
        Profile { may_leak: profile.may_leak && self.has_frees, ..profile }
    }

    /// Adds a cache of its own for every site that holds enough, whose objects are known well enough, and that a
    /// cache suits.
    fn sites(&mut self) {
        for (index, site, classes) in self.kmalloc_sites() {
            let class_bytes =
                classes.iter().map(|class| self.classes.bytes(class)).max().map_or(0, u64::from);
            let held = site.live_peak * class_bytes;
            if held < self.page_bytes {
                self.leave_out(site, NotTried::TooSmall);
                continue;
            }
            let object_bytes = self.meta.sites[index].bytes_req_max;
            let profile = self.profile(index, site);
            let why = match unsuited(&site.site, &profile) {
                None if site.frees_seen_share() < SEEN_SHARE_MIN => Some(NotTried::FreesUnseen),
                why => why,
            };
            match why {
                Some(why) => {
                    self.leave_out(site, why);
                    if why == NotTried::ManySizes {
                        let noted = noted::note(&self.classes, site, object_bytes, profile);
                        self.left_out.many_sizes.extend(noted);
                    }
                }
                None => self.candidate(index, site, classes, profile),
            }
        }
    }

    fn leave_out(&mut self, site: &Site, why: NotTried) {
        self.left_out.why.insert(site.site.clone(), why);
    }

    fn candidate(&mut self, index: usize, site: &'a Site, classes: ClassSet, profile: Profile) {
        let class_bytes =
            classes.iter().map(|class| self.classes.bytes(class)).max().map_or(0, u64::from);
        self.candidates.push(Candidate {
            // A function may have several sites; a site's whole name tells their caches apart.
            changes: Changes::default().dedicate(&site.site, vec![index as u32]),
            change: Change::Dedicate { cache: function(&site.site).to_owned() },
            classes,
            site,
            index,
            subject: site.site.clone(),
            class_bytes,
            object_bytes: self.meta.sites[index].bytes_req_max,
            live_peak: site.live_peak,
            profile,
            estimate: site.under[0].waste_bytes_peak.max(site.live_peak * class_bytes / 16),
        });
    }

    /// Adds, for each class, the further class that would save its sites most.
    fn size_classes(&mut self) {
        let mut by_class: BTreeMap<u32, Vec<(usize, &'a Site, u64)>> = BTreeMap::new();
        for (index, site, classes) in self.kmalloc_sites() {
            let bytes = self.meta.sites[index].bytes_req_max.div_ceil(8) * 8;
            // A site that spreads over classes tells nothing about any one of them.
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
            if estimate < self.page_bytes || most as f64 > estimate as f64 * ONE_SITE_SHARE {
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
                subject: KmallocType::Normal.name(class_bytes),
                class_bytes,
                object_bytes: u64::from(bytes),
                live_peak,
                profile: self.profile(index, site),
                estimate,
            });
        }
    }

    /// Tries the candidates, those that may save most first, and returns the results.
    fn tried(
        &mut self,
        reader: &TraceReader,
        kind: BackendKind,
        saving_bytes_min: u64,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<Advice>, Error> {
        self.candidates
            .sort_by(|a, b| b.estimate.cmp(&a.estimate).then_with(|| a.subject.cmp(&b.subject)));
        let tried = self.affordable();
        self.untried = (self.candidates.len() - tried) as u64;
        for left in self.candidates.drain(tried..) {
            if matches!(left.change, Change::Dedicate { .. }) {
                self.left_out.why.insert(left.subject, NotTried::Untried);
            }
        }
        let dedicated = self.candidates.iter().flat_map(|candidate| &candidate.changes.dedicated);
        let all = Changes { dedicated: dedicated.cloned().collect(), ..Changes::default() };
        let meta = all.meta(self.meta);
        let recorded = &self.whole.allocators[0];
        let moments = Moments::new(MOMENTS, meta.events, recorded.peak_event);
        let moments = moments.with_span_peaks(&recorded.span_peaks);
        // A trial has one class of kmalloc as a rule.
        let needed = need::class_machine_bytes(self.meta, self.classes.len() as u64);
        let fitting = need::fitting(needed).min((PASS_BYTES_MAX / needed) as usize).max(1);
        let tried = |trials: &[Trial], progress: &mut dyn FnMut(u64)| {
            try_all(reader, &meta, kind, &self.classes, trials, &moments, fitting, progress)
        };
        let (recorded, trials) = self.trials(trial_memory_bytes(self.whole, &self.plan, self.meta));
        let mut results = tried(&trials, progress)?;
        if results.iter().any(|result| result.allocator.failed > 0) {
            let (_, trials) = self.trials(self.plan.memory_bytes_for(self.meta));
            results = tried(&trials, progress)?;
        }
        let first = results.len() - self.candidates.len();
        let pairs = self.candidates.iter().zip(&results[first..]);
        let mut advice: Vec<_> = pairs
            .map(|(candidate, after)| {
                let before = &results[recorded[&candidate.classes]];
                judge(candidate, before, after, &moments, self.page_bytes, saving_bytes_min)
            })
            .collect();
        advice.sort_by(best_first);
        Ok(advice)
    }

    /// Returns how many of the candidates are tried.
    fn affordable(&self) -> usize {
        let rows = self.survey.rows_by_class(self.classes.len());
        let of = |candidate: &Candidate<'_>| {
            candidate.classes.iter().map(|class| rows[class as usize]).sum::<u64>()
        };
        fitting(self.candidates.iter().map(of), TRIAL_ROWS_MAX).min(TRIALS_MAX)
    }

    /// Returns the trials on machines with this much memory, one for each candidate in their order. Before them come
    /// the classes as recorded, whose places are returned as well.
    fn trials(&self, memory_bytes: u64) -> (BTreeMap<ClassSet, usize>, Vec<Trial>) {
        let plan = ReplayPlan { memory_bytes: Some(memory_bytes), ..self.plan.clone() };
        let mut trials = Vec::new();
        let mut recorded = BTreeMap::new();
        for candidate in &self.candidates {
            recorded.entry(candidate.classes).or_insert_with(|| {
                trials.push(Trial { plan: plan.clone(), classes: candidate.classes });
                trials.len() - 1
            });
        }
        for candidate in &self.candidates {
            let plan = ReplayPlan { changes: candidate.changes.clone(), ..plan.clone() };
            trials.push(Trial { plan, classes: candidate.classes });
        }
        (recorded, trials)
    }
}

/// Returns how many of the first trials replay at most `rows_max` rows together, one at least if there is any.
fn fitting(rows: impl Iterator<Item = u64>, rows_max: u64) -> usize {
    let together = rows.scan(0u64, |sum, rows| {
        *sum += rows;
        Some(*sum)
    });
    (0..).zip(together).take_while(|(place, rows)| *place == 0 || *rows <= rows_max).count()
}

/// Returns how much memory a trial's machine needs: several times what the whole machine held, although it replays only
/// a part of that machine. [`ReplayPlan::memory_bytes`] would be enough. But making a machine touches the first page of
/// each free block of its memory, 4,000 in 16 GiB, and there are a hundred machines.
fn trial_memory_bytes(whole: &Replay, plan: &ReplayPlan, meta: &Meta) -> u64 {
    let held = whole.allocators[0].held_bytes.peak;
    let least = TRIAL_BYTES_MIN.max(TRIAL_NODE_BYTES_MIN * u64::from(machine::nodes(meta)));
    held.saturating_mul(4).max(least).min(plan.memory_bytes_for(meta))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half a minute on a trace of a million events was a quarter of an hour on one of fifty million.
    #[test]
    fn so_much_is_tried_as_long_traces_leave_time_for() {
        assert_eq!(fitting([4, 4, 4].into_iter(), 9), 2);
        assert_eq!(fitting([4, 4, 4].into_iter(), 12), 3);
        assert_eq!(fitting([40, 4].into_iter(), 9), 1);
        assert_eq!(fitting([].into_iter(), 9), 0);
    }

    /// A machine of 8,192 CPUs on 128 nodes used to be refused, because its trials had 64 MiB.
    #[test]
    fn a_trial_has_memory_for_each_node() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/boot.parquet");
        let reader = TraceReader::open(path).unwrap();
        let plan = ReplayPlan { rows_max: Some(100), ..ReplayPlan::default() };
        let whole = replay(&reader, &plan, &mut |_| ()).unwrap();
        assert_eq!(
            trial_memory_bytes(&whole, &plan, reader.meta()),
            TRIAL_BYTES_MIN.max(whole.allocators[0].held_bytes.peak * 4)
        );
        let meta = Meta { nodes: 128, cpus: 8_192, ..Meta::default() };
        assert!(trial_memory_bytes(&whole, &plan, &meta) >= 128 * slablab_kmem::NODE_BYTES_MIN);
    }
}
