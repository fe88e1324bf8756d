//! A change that was tried, what it would do, and whether it is worth it.
//!
//! # How it works
//!
//! A change is judged by what the classes that it can touch hold with and without it: when the whole machine held most,
//! on average, and at the end. Slabs are whole: where objects waste less than a slab, saving one is as much chance as
//! it is the change's doing, which [`Advice::caveat`] then says.

use std::cmp::Ordering;
use std::fmt;

use serde::Serialize;
use slablab_trace::Meta;

use crate::advise::{Idea, WORTH_BYTES_MIN};
use crate::change::Changes;
use crate::result::{Allocator, Site, TraceFacts};
use crate::trial::Verdict;

/// Objects that lie in so many times the pages they need are scattered.
const SCATTERED_TIMES: f64 = 1.5;
/// Fewer objects than this are no list that anybody walks.
const WALK_OBJECTS_MIN: u64 = 16;
const PAGE_BYTES: u64 = 4096;

/// What to change, and what that would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// What to change
    pub change: Change,
    /// Call site, or the class of sizes, that it is about
    pub subject: String,
    /// Allocations of the site; for a class, of the site with most objects that fit, as are the layouts and lifetimes
    pub allocs: u64,
    /// The most objects alive at once; for a class, of each site that fits, together
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
    /// Bytes of the largest slab that takes part: what is saved comes in slabs
    pub slab_bytes: u64,
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

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dedicate { .. } => f.write_str("own cache"),
            Self::Class { bytes } => write!(f, "class {bytes}"),
        }
    }
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

impl Worth {
    /// Returns whether to advise it.
    #[must_use]
    pub fn is_useful(self) -> bool {
        matches!(self, Self::Saves | Self::Gathers)
    }
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
    /// Changes not tried: more than can be tried in one pass, and these promised least
    pub untried: u64,
    /// Best first: what is worth doing by bytes saved at the peak, then the rest likewise
    pub advice: Vec<Advice>,
    /// All call sites as recorded, under the allocator; not part of the stored result
    #[serde(skip)]
    pub recorded: Vec<Site>,
}

impl AdviceList {
    /// Returns what is worth doing, best first.
    pub fn useful(&self) -> impl Iterator<Item = &Advice> {
        self.advice.iter().filter(|advice| advice.worth.is_useful())
    }

    /// Returns the changes that give every call site worth it a cache of its own, and those sites, best first, as
    /// places in [`Meta::sites`]; `meta` is that of the trace.
    #[must_use]
    pub fn together(&self, meta: &Meta) -> (Changes, Vec<u32>) {
        let place = |subject: &str| meta.sites.iter().position(|site| site.name == subject);
        let dedicated = self.useful().filter(|a| matches!(a.change, Change::Dedicate { .. }));
        let sites: Vec<u32> = dedicated.filter_map(|a| Some(place(&a.subject)? as u32)).collect();
        // Two sites of a function would have caches of one name: a site's whole name tells them apart.
        let name = |site: u32| meta.sites[site as usize].name.clone();
        let none = Changes::default();
        let changes = sites.iter().fold(none, |all, site| all.dedicate(name(*site), vec![*site]));
        (changes, sites)
    }
}

/// Compares the classes as recorded with the classes changed.
pub(crate) fn judge(idea: &Idea<'_>, before: &Verdict, after: &Verdict) -> Advice {
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
    let dense = (idea.object_bytes.max(8) as f64 / PAGE_BYTES as f64).min(1.0);
    let scattered = matches!(idea.change, Change::Dedicate { .. })
        && idea.site.live_peak >= WALK_OBJECTS_MIN
        && lies.pages_per_object > dense * SCATTERED_TIMES
        && lies.pages_per_walk > 1;
    let mut advice = Advice {
        change: idea.change.clone(),
        subject: idea.subject.clone(),
        allocs: idea.site.allocs,
        live_peak: idea.live_peak,
        object_bytes: idea.object_bytes,
        class_bytes: idea.class_bytes,
        saved_bytes_at_peak: saved(|v| v.held_bytes_at_peak),
        saved_bytes_mean: saved(|v| v.allocator.held_bytes.mean),
        saved_bytes_end: saved(|v| v.allocator.held_bytes.end),
        slab_bytes: slab_bytes_max(&before.allocator).max(slab_bytes_max(&after.allocator)),
        before: lies,
        after: would_lie,
        fast_share_before: before.allocator.alloc_fast_share(),
        fast_share_after: after.allocator.alloc_fast_share(),
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
    // Of objects that come late and stay, the mean says how late: what is held at the end is held for good.
    let lasting = advice.saved_bytes_mean.max(advice.saved_bytes_end);
    match advice.saved_bytes_mean {
        mean if mean > -least && advice.saved_bytes_at_peak.min(lasting) >= least => Worth::Saves,
        mean if mean <= -least => Worth::Costs,
        _ if gathers => Worth::Gathers,
        _ => Worth::Little,
    }
}

/// Orders advice: what is worth doing first, then by bytes saved.
pub(crate) fn best_first(a: &Advice, b: &Advice) -> Ordering {
    let key = |advice: &Advice| {
        let (peak, mean) = (-advice.saved_bytes_at_peak, -advice.saved_bytes_mean);
        (!advice.worth.is_useful(), peak, mean, advice.worth)
    };
    key(a).cmp(&key(b)).then_with(|| a.subject.cmp(&b.subject))
}

fn slab_bytes_max(allocator: &Allocator) -> u64 {
    allocator.caches.iter().map(|cache| PAGE_BYTES << cache.order).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(at_peak: i64, mean: i64, end: i64) -> Advice {
        let mut advice = Advice {
            change: Change::Class { bytes: 40 },
            subject: format!("{at_peak}/{mean}/{end}"),
            allocs: 1000,
            live_peak: 1000,
            object_bytes: 40,
            class_bytes: 64,
            saved_bytes_at_peak: at_peak,
            saved_bytes_mean: mean,
            saved_bytes_end: end,
            slab_bytes: 4096,
            before: Layout::default(),
            after: Layout::default(),
            fast_share_before: 1.0,
            fast_share_after: 1.0,
            scattered: false,
            lifetime_ns_p50: 0,
            worth: Worth::Little,
            reason: String::new(),
            caveat: None,
        };
        advice.worth = worth(&advice);
        advice
    }

    #[test]
    fn what_is_saved_late_and_for_good_is_worth_it() {
        assert_eq!(advice(32_768, -64, 32_768).worth, Worth::Saves);
        assert_eq!(advice(32_768, 9_000, 0).worth, Worth::Saves);
        assert_eq!(advice(32_768, -64, 0).worth, Worth::Little);
        assert_eq!(advice(32_768, -28_000, 32_768).worth, Worth::Costs);
        assert_eq!(advice(4_095, 4_095, 4_095).worth, Worth::Little);
    }

    #[test]
    fn what_is_worth_doing_comes_first_and_then_what_saves_more() {
        let mut list = [
            advice(8_192, -64, 0),
            advice(4_096, 4_096, 0),
            advice(40_960, -9_000, 0),
            advice(8_192, 5_000, 0),
        ];
        list.sort_by(best_first);
        let names = list.map(|advice| advice.subject);
        assert_eq!(names, ["8192/5000/0", "4096/4096/0", "40960/-9000/0", "8192/-64/0"]);
    }
}
