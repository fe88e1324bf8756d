//! Which call sites should have a cache of their own, and which size class is missing: everything worth trying
//! is tried, and ranked by what it saves.
//!
//! # How it works
//!
//! One replay of the whole trace says how much each kmalloc site wastes, how its objects lie, and when the machine
//! held most. The sites that hold enough to matter are then tried one by one, each with a cache of its own
//! ([`crate::trial`]), and so is, for each class, the one further size class that fits the sites in it best. What
//! is saved is the difference to the same classes as recorded: at the moment when the whole machine held most,
//! on average over the trace, and at its end.

use std::collections::BTreeMap;

use serde::Serialize;
use slablab_kmem::BackendKind;
use slablab_trace::{Meta, TraceReader};

use crate::caches;
use crate::change::Changes;
use crate::error::Error;
use crate::plan::Plan;
use crate::replay::replay;
use crate::result::{Allocator, Replay, Site, TraceFacts};
use crate::select::function;
use crate::survey::{ClassSet, Classes, Survey, survey};
use crate::trial::{Trial, Verdict, try_all};

/// Trials in one pass: what 1 GiB of memory and ten seconds carry.
const TRIALS_MAX: usize = 96;
/// A page is the least that a cache can save.
const WORTH_BYTES_MIN: u64 = 4096;
/// Objects that lie in so many times the pages they need are scattered.
const SCATTERED_TIMES: f64 = 1.5;
/// Fewer objects than this are no list that anybody walks.
const WALK_OBJECTS_MIN: u64 = 16;

/// What to change, and what that would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// What to change
    pub change: Change,
    /// Call site, or the class of sizes, that it is about
    pub subject: String,
    /// Allocations of the site, or in the class
    pub allocs: u64,
    /// The most objects alive at once
    pub live_peak: u64,
    /// Bytes of an object as asked for, the most
    pub object_bytes: u64,
    /// Bytes that kmalloc gives for them
    pub class_bytes: u64,
    /// Bytes held less when the machine held most
    pub saved_bytes_at_peak: i64,
    /// Bytes held less on average
    pub saved_bytes_mean: i64,
    /// Bytes held less after the last event
    pub saved_bytes_end: i64,
    /// How the objects lie as recorded
    pub before: Layout,
    /// How they would lie
    pub after: Layout,
    /// Share of the class's allocations on the fast path, as recorded
    pub fast_share_before: f64,
    /// The same with the change
    pub fast_share_after: f64,
    /// Whether the objects are scattered as recorded: in so many more pages than they need
    pub scattered: bool,
    /// Half of the objects lived at most this long; 0 when none ended
    pub lifetime_ns_p50: u64,
    /// Whether it is worth doing
    pub worth: Worth,
    /// Why, in a sentence
    pub reason: String,
    /// What speaks against it, if anything does
    pub caveat: Option<String>,
}

/// A change that can be advised.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Change {
    /// A cache of its own for a call site
    Dedicate {
        /// A name for it
        cache: String,
    },
    /// A further kmalloc size class
    Class {
        /// Its bytes
        bytes: u32,
    },
}

/// Whether a change is worth doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Worth {
    /// It saves memory
    Saves,
    /// It brings scattered objects together, for little or no memory
    Gathers,
    /// It changes little
    Little,
    /// It costs memory
    Costs,
}

/// How a site's objects lie; means over snapshots of the trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Layout {
    /// Cache lines that a walk over all live objects touches, at the most objects alive
    pub lines_per_walk: u64,
    /// Pages that it touches
    pub pages_per_walk: u64,
    /// Lines an object
    pub lines_per_object: f64,
    /// Pages an object
    pub pages_per_object: f64,
}

/// The advice on a trace.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AdviceList {
    /// What was replayed
    pub trace: TraceFacts,
    /// The allocator it holds for
    pub allocator: String,
    /// Bytes held at peak as recorded
    pub held_bytes_peak: u64,
    /// kmalloc sites in the trace
    pub sites: u64,
    /// Sites not tried: they hold too little at any time to fill a page
    pub sites_too_small: u64,
    /// Best first: by bytes saved at the peak, then on average
    pub advice: Vec<Advice>,
}

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
        return Err(Error::Select(crate::select::SelectError::NoSites));
    }
    let plan = Plan { allocators: vec![kind], memory_bytes, ..Plan::default() };
    let whole = replay(reader, &plan, progress)?;
    let classes = Classes::new(&caches::kmalloc(meta, &Changes::default()).classes);
    let survey = survey(reader, meta, &classes)?;
    let mut search = Search { meta, plan, whole: &whole, classes, survey, ideas: Vec::new() };
    let sites_too_small = search.sites();
    search.size_classes();
    let advice = search.tried(reader, kind, progress)?;
    Ok(AdviceList {
        allocator: kind.name().to_owned(),
        held_bytes_peak: whole.allocators[0].held_bytes.peak,
        sites: search.survey.classes.iter().filter(|classes| !classes.is_empty()).count() as u64,
        sites_too_small,
        advice,
        trace: whole.trace,
    })
}

/// Something to try.
#[derive(Debug)]
struct Idea<'a> {
    change: Change,
    changes: Changes,
    classes: ClassSet,
    /// The site it is about; the largest one in the class for a size class
    site: &'a Site,
    /// Place of the site in the trace's table
    index: usize,
    subject: String,
    class_bytes: u64,
    object_bytes: u64,
    /// At least what could come of it, to try the best first
    hope: u64,
}

/// Ideas in the making.
struct Search<'a> {
    meta: &'a Meta,
    plan: Plan,
    whole: &'a Replay,
    classes: Classes,
    survey: Survey,
    ideas: Vec<Idea<'a>>,
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

    /// Adds a cache of its own for every site that holds enough; returns how many do not.
    fn sites(&mut self) -> u64 {
        let mut too_small = 0;
        for (index, site, classes) in self.kmalloc_sites() {
            let class_bytes =
                classes.iter().map(|class| self.classes.bytes(class)).max().map_or(0, u64::from);
            let held = site.live_peak * class_bytes;
            if held < WORTH_BYTES_MIN {
                too_small += 1;
                continue;
            }
            let cache = function(&site.site).to_owned();
            self.ideas.push(Idea {
                changes: Changes::default().dedicate(&cache, vec![index as u32]),
                change: Change::Dedicate { cache },
                classes,
                site,
                index,
                subject: site.site.clone(),
                class_bytes,
                object_bytes: self.meta.sites[index].bytes_req_max,
                hope: site.under[0].waste_bytes_peak.max(held / 16),
            });
        }
        too_small
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
            let saves = |size: u64| -> u64 {
                let fitting = sites.iter().filter(|(_, _, bytes)| *bytes <= size);
                fitting.map(|(_, site, _)| site.live_peak * (class_bytes - size)).sum()
            };
            let sizes = sites.iter().map(|(_, _, bytes)| *bytes).filter(|b| *b < class_bytes);
            let Some((hope, bytes)) = sizes.map(|size| (saves(size), size)).max() else { continue };
            if hope < WORTH_BYTES_MIN {
                continue;
            }
            let largest = sites.iter().max_by_key(|(_, site, _)| site.live_peak);
            let Some(&(index, site, _)) = largest else { continue };
            let mut set = ClassSet::default();
            set.add(class);
            let bytes = bytes as u32;
            self.ideas.push(Idea {
                changes: Changes { classes: Some(self.classes.with(bytes)), ..Changes::default() },
                change: Change::Class { bytes },
                classes: set,
                site,
                index,
                subject: format!("kmalloc-{class_bytes}"),
                class_bytes,
                object_bytes: u64::from(bytes),
                hope,
            });
        }
    }

    /// Tries the ideas, the most hopeful first, and returns what came of them.
    fn tried(
        &mut self,
        reader: &TraceReader,
        kind: BackendKind,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<Advice>, Error> {
        self.ideas.sort_by(|a, b| b.hope.cmp(&a.hope).then_with(|| a.subject.cmp(&b.subject)));
        self.ideas.truncate(TRIALS_MAX);
        let mut trials = Vec::new();
        let mut recorded: BTreeMap<ClassSet, usize> = BTreeMap::new();
        for idea in &self.ideas {
            recorded.entry(idea.classes).or_insert_with(|| {
                trials.push(Trial::new(self.meta, self.plan.clone(), idea.classes));
                trials.len() - 1
            });
        }
        let first = trials.len();
        for idea in &self.ideas {
            let plan = Plan { changes: idea.changes.clone(), ..self.plan.clone() };
            trials.push(Trial::new(self.meta, plan, idea.classes));
        }
        let peak_event = self.whole.allocators[0].peak_event;
        let verdicts = try_all(reader, kind, &self.classes, &trials, peak_event, progress)?;
        let pairs = self.ideas.iter().zip(&verdicts[first..]);
        let mut advice: Vec<_> = pairs
            .map(|(idea, after)| judge(idea, &verdicts[recorded[&idea.classes]], after))
            .collect();
        advice.sort_by(|a, b| {
            let key = |advice: &Advice| {
                (-advice.saved_bytes_at_peak, -advice.saved_bytes_mean, advice.worth)
            };
            key(a).cmp(&key(b)).then_with(|| a.subject.cmp(&b.subject))
        });
        Ok(advice)
    }
}

/// Compares the classes as recorded with the classes changed.
fn judge(idea: &Idea<'_>, before: &Verdict, after: &Verdict) -> Advice {
    let saved = |read: fn(&Verdict) -> u64| read(before) as i64 - read(after) as i64;
    let layout = |verdict: &Verdict| {
        let under = &verdict.sites[idea.index];
        let walk = |per_object: f64| (per_object * idea.site.live_peak as f64).round() as u64;
        Layout {
            lines_per_walk: walk(under.lines_per_object),
            pages_per_walk: walk(under.pages_per_object).max(1),
            lines_per_object: under.lines_per_object,
            pages_per_object: under.pages_per_object,
        }
    };
    let (lies, would_lie) = (layout(before), layout(after));
    // Dense objects need this share of a page each.
    let dense = (idea.object_bytes.max(8) as f64 / 4096.0).min(1.0);
    let scattered = idea.site.live_peak >= WALK_OBJECTS_MIN
        && lies.pages_per_object > dense * SCATTERED_TIMES
        && lies.pages_per_walk > 1;
    let mut advice = Advice {
        change: idea.change.clone(),
        subject: idea.subject.clone(),
        allocs: idea.site.allocs,
        live_peak: idea.site.live_peak,
        object_bytes: idea.object_bytes,
        class_bytes: idea.class_bytes,
        saved_bytes_at_peak: saved(|v| v.held_bytes_at_peak),
        saved_bytes_mean: saved(|v| v.allocator.held_bytes.mean),
        saved_bytes_end: saved(|v| v.allocator.held_bytes.end),
        before: lies,
        after: would_lie,
        fast_share_before: fast_share(&before.allocator),
        fast_share_after: fast_share(&after.allocator),
        scattered,
        lifetime_ns_p50: idea.site.lifetime.p50_ns,
        worth: Worth::Little,
        reason: String::new(),
        caveat: None,
    };
    advice.worth = worth(&advice);
    advice.reason = crate::sentence::reason(&advice);
    advice.caveat = crate::sentence::caveat(&advice);
    advice
}

fn worth(advice: &Advice) -> Worth {
    let least = WORTH_BYTES_MIN as i64;
    let gathers =
        advice.scattered && advice.after.lines_per_walk * 10 <= advice.before.lines_per_walk * 9;
    match advice.saved_bytes_at_peak.min(advice.saved_bytes_mean) {
        saved if saved >= least => Worth::Saves,
        saved if gathers && saved > -least => Worth::Gathers,
        _ if advice.saved_bytes_mean <= -least => Worth::Costs,
        _ if gathers => Worth::Gathers,
        _ => Worth::Little,
    }
}

fn fast_share(allocator: &Allocator) -> f64 {
    let count = |name| allocator.paths.get(name).copied().unwrap_or(0) as f64;
    let all = count("alloc_fastpath") + count("alloc_slowpath");
    if all == 0.0 { 0.0 } else { count("alloc_fastpath") / all }
}
