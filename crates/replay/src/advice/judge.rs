//! Whether a change that was tried is worth making.
//!
//! # How it works
//! A change is judged by the bytes that the classes it can touch hold with and without it: by how much the
//! peak of the whole machine is lower, the mean, and the end. Slabs are whole, and not all events were placed. So a change
//! is advised only if it saves more than a slab and more than the share of the trace that is not known. The saving must
//! also exceed its own variation over the trace while the objects are there.

use std::cmp::Ordering;

use crate::advice::result::{Advice, Change, Layout, Profile, Worth};
use crate::advice::trial::{Moments, TrialResult};
use crate::change::changes::Changes;
use crate::metrics::requests::ClassSet;
use crate::metrics::result::{Allocator, Site};

/// What a cache has to cost on average before it is said to cost memory.
const COSTS_BYTES_MIN: i64 = 4096;
/// Less than this share of what the machine holds is not worth a patch.
const WORTH_SHARE_MIN: f64 = 0.001;

/// Something to try.
#[derive(Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) change: Change,
    pub(crate) changes: Changes,
    pub(crate) classes: ClassSet,
    /// The site in question; for a size class, the one with most objects that fit
    pub(crate) site: &'a Site,
    /// Place of the site in the trace's table
    pub(crate) index: usize,
    pub(crate) subject: String,
    pub(crate) class_bytes: u64,
    pub(crate) object_bytes: u64,
    /// The most of its objects alive at once; for several sites, their sum
    pub(crate) live_peak: u64,
    /// Facts about the site's objects
    pub(crate) profile: Profile,
    /// A lower bound of what it may save, to try the best first
    pub(crate) estimate: u64,
}

/// Objects that lie in this many times the pages they need are scattered.
const SCATTERED_TIMES: f64 = 1.5;
/// Fewer objects than this are not a list that is walked.
const WALK_OBJECTS_MIN: u64 = 16;
/// The size of the pages in which the places of objects are counted.
const PAGE_BYTES: u64 = 4096;

/// Returns the bytes that have to be saved, at least a page, for a peak of this many bytes in pages of this size and
/// this share of events that could not be placed.
pub(crate) fn saving_bytes_min(held_bytes_peak: u64, page_bytes: u64, unplaced_share: f64) -> u64 {
    let share = unplaced_share.clamp(WORTH_SHARE_MIN, 1.0);
    ((held_bytes_peak as f64 * share) as u64).max(page_bytes)
}

/// Returns the mean saving while at least half of the objects are there, and its standard deviation.
fn while_loaded(before: &TrialResult, after: &TrialResult, moments: &Moments) -> (i64, u64) {
    let most = after.live.iter().copied().max().unwrap_or(0);
    let held = moments.even(&before.held_bytes).zip(moments.even(&after.held_bytes));
    let pairs = held.zip(&after.live);
    let loaded = pairs.filter(|(_, live)| most > 0 && *live * 2 >= most);
    let saved: Vec<f64> = loaded.map(|((b, a), _)| b as f64 - a as f64).collect();
    let count = saved.len().max(1) as f64;
    let mean = saved.iter().sum::<f64>() / count;
    let variance = saved.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / count;
    (mean as i64, variance.sqrt() as u64)
}

/// Compares the classes as recorded with the classes changed, in pages of this size; `saving_bytes_min` is the least that
/// is advised.
pub(crate) fn judge(
    candidate: &Candidate<'_>,
    before: &TrialResult,
    after: &TrialResult,
    moments: &Moments,
    page_bytes: u64,
    saving_bytes_min: u64,
) -> Advice {
    let (loaded, spread) = while_loaded(before, after, moments);
    let saved = |read: fn(&TrialResult) -> u64| read(before) as i64 - read(after) as i64;
    let layout = |result: &TrialResult| {
        let under = result.sites.of(candidate.index);
        let placement = under.placement.unwrap_or_default();
        Layout {
            objects_per_walk: under.walk.objects,
            lines_per_walk: under.walk.lines,
            pages_per_walk: under.walk.pages,
            lines_per_object: placement.lines_per_object,
            pages_per_object: placement.pages_per_object,
        }
    };
    let (lies, would_lie) = (layout(before), layout(after));
    // Dense objects need this share of a page each.
    let dense = (candidate.object_bytes.max(8) as f64 / PAGE_BYTES as f64).min(1.0);
    let scattered = matches!(candidate.change, Change::Dedicate { .. })
        && candidate.site.live_peak >= WALK_OBJECTS_MIN
        && lies.pages_per_object > dense * SCATTERED_TIMES
        && lies.pages_per_walk > 1;
    let mut advice = Advice {
        change: candidate.change.clone(),
        subject: candidate.subject.clone(),
        allocs: candidate.site.allocs,
        live_peak: candidate.live_peak,
        object_bytes: candidate.object_bytes,
        class_bytes: candidate.class_bytes,
        saved_bytes_at_peak: moments.peak_less(&before.held_bytes, &after.held_bytes),
        saved_bytes_mean: saved(|v| v.allocator.held_bytes.mean),
        saved_bytes_end: saved(|v| v.allocator.held_bytes.end),
        saved_bytes_loaded: loaded,
        saved_bytes_spread: spread,
        slab_bytes: page_bytes << order_max(&before.allocator).max(order_max(&after.allocator)),
        before: lies,
        after: would_lie,
        fast_share_before: before.allocator.alloc_fast_share(),
        fast_share_after: after.allocator.alloc_fast_share(),
        scattered,
        profile: candidate.profile.clone(),
        worth: Worth::Negligible,
    };
    advice.worth = worth(&advice, saving_bytes_min);
    advice
}

fn worth(advice: &Advice, saving_bytes_min: u64) -> Worth {
    let enough = saving_bytes_min.max(advice.slab_bytes) as i64;
    let gathers =
        advice.scattered && advice.after.lines_per_walk * 10 <= advice.before.lines_per_walk * 9;
    // For objects that come late and stay, the mean over the whole trace tells how late.
    let lasting = advice.saved_bytes_at_peak.min(advice.saved_bytes_loaded);
    let steady = advice.saved_bytes_loaded > advice.saved_bytes_spread as i64;
    match advice.saved_bytes_mean {
        _ if advice.is_own_cache() && advice.profile.may_leak => Worth::MayLeak,
        mean if mean > 0 && steady && lasting > enough => Worth::SavesMemory,
        mean if mean <= -COSTS_BYTES_MIN => Worth::CostsMemory,
        _ if gathers => Worth::ImprovesLocality,
        _ => Worth::Negligible,
    }
}

/// Orders advice: changes worth making first, then by bytes saved.
pub(crate) fn best_first(a: &Advice, b: &Advice) -> Ordering {
    let key = |advice: &Advice| {
        let (peak, mean) = (-advice.saved_bytes_at_peak, -advice.saved_bytes_mean);
        (!advice.worth.is_useful(), peak, mean, advice.worth)
    };
    key(a).cmp(&key(b)).then_with(|| a.subject.cmp(&b.subject))
}

/// Returns the order of the largest slabs.
fn order_max(allocator: &Allocator) -> u64 {
    allocator.caches.iter().map(|cache| cache.order).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(at_peak: i64, mean: i64, loaded: i64, spread: u64) -> Advice {
        let mut advice = Advice {
            change: Change::Class { bytes: 40 },
            subject: format!("{at_peak}/{mean}"),
            allocs: 1000,
            live_peak: 1000,
            object_bytes: 40,
            class_bytes: 64,
            saved_bytes_at_peak: at_peak,
            saved_bytes_mean: mean,
            saved_bytes_end: 0,
            saved_bytes_loaded: loaded,
            saved_bytes_spread: spread,
            slab_bytes: 4096,
            before: Layout::default(),
            after: Layout::default(),
            fast_share_before: 1.0,
            fast_share_after: 1.0,
            scattered: false,
            profile: Profile::default(),
            worth: Worth::Negligible,
        };
        advice.worth = worth(&advice, 8_000);
        advice
    }

    #[test]
    fn what_is_saved_while_the_objects_are_there_is_worth_it() {
        assert_eq!(advice(32_768, 64, 30_000, 9_000).worth, Worth::SavesMemory);
        assert_eq!(advice(32_768, -64, 30_000, 9_000).worth, Worth::Negligible);
        assert_eq!(advice(32_768, 64, 30_000, 30_000).worth, Worth::Negligible);
        assert_eq!(advice(32_768, -28_000, 32_768, 0).worth, Worth::CostsMemory);
    }

    /// A cache used to "save memory" on objects that are never freed, until memory runs out.
    #[test]
    fn no_cache_is_advised_for_a_leak() {
        let profile = Profile { may_leak: true, ..Profile::default() };
        let saving = Advice { profile, ..advice(32_768, 32_768, 32_768, 0) };
        assert_eq!(worth(&saving, 8_000), Worth::SavesMemory, "a class serves other sites, too");
        let own = Advice { change: Change::Dedicate { cache: "mine".into() }, ..saving };
        assert_eq!(worth(&own, 8_000), Worth::MayLeak);
    }

    #[test]
    fn a_slab_and_what_the_trace_does_not_know_are_no_saving() {
        assert_eq!(advice(8_001, 8_001, 8_001, 0).worth, Worth::SavesMemory);
        assert_eq!(advice(8_000, 8_000, 8_000, 0).worth, Worth::Negligible);
        assert_eq!(
            (saving_bytes_min(1 << 20, 4096, 0.25), saving_bytes_min(1 << 20, 4096, 0.0)),
            (1 << 18, 4096)
        );
    }

    /// 5 KiB used to count as "more than a slab" on a machine whose pages have 64 KiB.
    #[test]
    fn a_large_page_is_the_least_that_is_saved_on_a_machine_of_such() {
        assert_eq!(saving_bytes_min(1 << 20, 64 << 10, 0.0), 64 << 10);
    }

    #[test]
    fn what_is_worth_doing_comes_first_and_then_what_saves_more() {
        let mut list = [
            advice(8_192, -64, 8_192, 0),
            advice(8_100, 4_096, 8_100, 0),
            advice(40_960, -9_000, 8_192, 0),
            advice(8_192, 5_000, 8_192, 0),
        ];
        list.sort_by(best_first);
        let names = list.map(|advice| advice.subject);
        assert_eq!(names, ["8192/5000", "8100/4096", "40960/-9000", "8192/-64"]);
    }
}
