//! Call sites at which a recommendation can be followed, and those that are worth reading for another
//! reason.
//!
//! # How it works
//! A cache serves one size. So a site that requests several is not ranked, as they come from outside, and the next may be
//! larger than all before. Nor is one whose objects are the allocator's own, or the data of packets, whose size is that of
//! the packets, or a helper, which allocates for whoever calls it. Objects a few bytes larger than a class
//! cost the most for the least: a field moved or narrowed may save more than any cache.

use slablab_linux::Helpers;
use slablab_trace::Meta;

use crate::advice::result::{NotTried, NotedSite, Profile};
use crate::change::select::function;
use crate::metrics::requests::{Classes, PARTS, Requests};
use crate::metrics::result::Site;

/// An object is slightly over a class if it exceeds it by up to this share of it.
const OVER_SHARE_MAX: u64 = 16;
/// A site that wastes less than a page is not worth a line.
const WASTE_BYTES_MIN: u64 = 4096;
/// The number of sites of a kind that are noted, at most.
const NOTED_MAX: usize = 32;

/// Functions with which the slab allocator allocates for itself (`mm/slub.c`, `mm/slab_common.c` @
/// 6.1 to 7.3).
const OWN: [&str; 8] = [
    "alloc_slab_obj_exts",
    "memcg_alloc_slab_cgroups",
    "alloc_empty_sheaf",
    "__alloc_empty_sheaf",
    "alloc_full_sheaf",
    "kmem_cache_prefill_sheaf",
    "init_cache_random_seq",
    "cache_random_seq_create",
];
/// Functions that allocate the data of network packets (`net/core/skbuff.c` @ 6.1 to 7.3).
const PAYLOAD: [&str; 6] = [
    "__alloc_skb",
    "kmalloc_reserve",
    "pskb_expand_head",
    "__napi_alloc_skb",
    "napi_alloc_skb",
    "__netdev_alloc_skb",
];

/// Returns why no cache can be advised for a call site, if there is a reason.
pub(crate) fn unsuited(site: &str, profile: &Profile) -> Option<NotTried> {
    let name = function(site);
    // A compiler's copy of a function counts as that function.
    let name = name.split('.').next().unwrap_or(name);
    if OWN.contains(&name) {
        return Some(NotTried::Own);
    }
    if PAYLOAD.contains(&name) {
        return Some(NotTried::Payload);
    }
    if Helpers::known().has_of_any_size(site) {
        return Some(NotTried::Helper);
    }
    let many = profile.sizes.len() > 1 || profile.allocs_of_other_sizes > 0;
    many.then_some(NotTried::ManySizes)
}

/// Returns the facts about the objects of a site, which is at place `index` of the trace's table.
///
/// `most_keep` says whether most call sites keep what they allocate.
pub(crate) fn profile(
    meta: &Meta,
    survey: &Requests,
    index: usize,
    site: &Site,
    most_keep: bool,
) -> Profile {
    let sizes = &survey.sizes[index];
    let duration_ns = meta.time_last_ns.saturating_sub(meta.time_first_ns);
    let slow = site.under.first().and_then(|under| under.slow_operations).unwrap_or(0);
    let operations = site.allocs + site.ended();
    // A trace of one instant has no rate.
    let per_second = (u128::from(site.allocs) * 1_000_000_000).checked_div(u128::from(duration_ns));
    Profile {
        sizes: sizes.by_count(),
        allocs_of_other_sizes: sizes.others,
        allocs_per_second: u64::try_from(per_second.unwrap_or(0)).unwrap_or(u64::MAX),
        freed_elsewhere_share: site.frees_cross_cpu as f64 / site.ended().max(1) as f64,
        slow_share: slow as f64 / operations.max(1) as f64,
        lifetime: site.lifetime.unwrap_or_default(),
        live_end: site.live_end,
        may_leak: site.frees_hardly() && is_suspect(survey.allocs_in_parts[index], most_keep)
            || !most_keep && grows(survey.growth_in_parts[index]),
    }
}

/// Returns whether what a site allocated in the parts of a recording, and hardly freed, may be a leak: it goes on, and most of
/// it had time to be freed. Where most call sites keep their objects, only one that never ceases to allocate is suspect.
fn is_suspect(allocs_in_parts: [u64; PARTS], most_keep: bool) -> bool {
    match most_keep {
        true => allocs_in_parts.iter().all(|allocs| *allocs > 0),
        false => goes_on(allocs_in_parts) && has_had_time(allocs_in_parts),
    }
}

/// Returns whether the objects of a site grew in number in each part of a recording, so that part of them may leak: nothing
/// tells yet where it ends.
fn grows(growth_in_parts: [i64; PARTS]) -> bool {
    growth_in_parts.iter().all(|growth| *growth > 0)
}

/// Returns whether a site allocated in the second half of the recording too. What was allocated in the first half alone, as
/// the rules of a firewall are, has ceased to grow.
fn goes_on(allocs_in_parts: [u64; PARTS]) -> bool {
    allocs_in_parts[PARTS / 2..].iter().any(|allocs| *allocs > 0)
}

/// Returns whether most of what a site allocated came before the last part of the recording: what came in that may yet be
/// freed, as all else is.
fn has_had_time(allocs_in_parts: [u64; PARTS]) -> bool {
    let all: u64 = allocs_in_parts.iter().sum();
    all > 0 && allocs_in_parts[PARTS - 1] * 2 <= all
}

/// Notes a site that requests `object_bytes` at most.
pub(crate) fn note(
    classes: &Classes,
    site: &Site,
    object_bytes: u64,
    profile: Profile,
) -> Option<NotedSite> {
    let class = classes.of(object_bytes)?;
    let below = class.checked_sub(1).map_or(0, |below| classes.bytes(below));
    Some(NotedSite {
        site: site.site.clone(),
        allocs: site.allocs,
        live_peak: site.live_peak,
        object_bytes,
        class_bytes: u64::from(classes.bytes(class)),
        class_bytes_below: u64::from(below),
        waste_bytes: site.under.first().map_or(0, |under| under.waste_bytes_peak),
        profile,
    })
}

/// Returns whether a site's objects are all of one size, a few bytes over a class.
fn is_over_class(site: &NotedSite) -> bool {
    let over = site.object_bytes.saturating_sub(site.class_bytes_below);
    let one_size = site.profile.sizes.len() == 1 && site.profile.allocs_of_other_sizes == 0;
    one_size && over * OVER_SHARE_MAX <= site.class_bytes_below
}

/// Returns the sites that are slightly over a class and waste a page or more by it, those that waste most first.
pub(crate) fn over_class(sites: &[NotedSite]) -> Vec<NotedSite> {
    by_waste(sites.iter().filter(|site| is_over_class(site)))
}

/// Returns those of the sites that waste a page or more, those that waste most first.
pub(crate) fn by_waste<'a>(sites: impl Iterator<Item = &'a NotedSite>) -> Vec<NotedSite> {
    let mut found: Vec<_> =
        sites.filter(|site| site.waste_bytes >= WASTE_BYTES_MIN).cloned().collect();
    found.sort_by(|a, b| b.waste_bytes.cmp(&a.waste_bytes).then_with(|| a.site.cmp(&b.site)));
    found.truncate(NOTED_MAX);
    found
}

/// Returns the sites by allocations, without those for which a cache cannot be made.
pub(crate) fn hot(mut sites: Vec<NotedSite>) -> Vec<NotedSite> {
    let is_fixed = |site: &NotedSite| {
        matches!(unsuited(&site.site, &site.profile), Some(NotTried::Own | NotTried::Payload))
    };
    sites.retain(|site| !is_fixed(site));
    sites.sort_by(|a, b| b.allocs.cmp(&a.allocs).then_with(|| a.site.cmp(&b.site)));
    sites.truncate(NOTED_MAX);
    sites
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::requests::SizeCount;

    fn of_sizes(sizes: &[u64]) -> Profile {
        let sizes = sizes.iter().map(|bytes| SizeCount { bytes: *bytes, allocs: 1 }).collect();
        Profile { sizes, ..Profile::default() }
    }

    #[test]
    fn what_cannot_be_followed_is_not_ranked() {
        let one = of_sizes(&[40]);
        assert_eq!(unsuited("do_eventfd+0x38", &one), None);
        assert_eq!(unsuited("kmemdup_noprof+0x38", &one), Some(NotTried::Helper));
        assert_eq!(unsuited("alloc_slab_obj_exts+0x58", &one), Some(NotTried::Own));
        assert_eq!(unsuited("__alloc_skb+0x80", &one), Some(NotTried::Payload));
        assert_eq!(unsuited("pskb_expand_head.part.0+0x1", &one), Some(NotTried::Payload));
    }

    /// A cache was advised for messages of 738 and 739 bytes, with room for the larger: the next was longer.
    #[test]
    fn a_site_of_two_sizes_gets_no_cache_of_the_larger() {
        assert_eq!(unsuited("load_msg+0x41", &of_sizes(&[738, 739])), Some(NotTried::ManySizes));
    }

    /// What leaked in bursts was worth a cache, as it did not allocate in every part.
    #[test]
    fn a_burst_that_is_never_freed_may_leak() {
        assert!(is_suspect([0, 9, 0, 0, 0, 1, 0, 0], false));
        assert!(is_suspect([0, 0, 0, 0, 0, 5, 5, 5], false));
        assert!(is_suspect([1; PARTS], false));
        assert!(!is_suspect([0, 0, 0, 0, 0, 0, 1, 9], false), "it may yet be freed");
        assert!(!is_suspect([0; PARTS], false));
    }

    /// A cache was advised for a site that freed eight of a hundred objects, and then for one that freed 80 of them.
    #[test]
    fn what_grows_to_the_end_may_leak_although_some_of_it_is_freed() {
        assert!(grows([5, 1, 4, 9, 2, 3, 1, 1]));
        assert!(!grows([5, 1, 4, 9, 2, 3, 1, 0]));
        assert!(!grows([500, -3, 2, -1, 4, -2, 1, 1]));
    }

    /// The rules of a firewall, 200 scattered objects that a cache gathers, were taken for a leak.
    #[test]
    fn what_has_ceased_to_grow_is_a_population() {
        assert!(!is_suspect([0, 9, 9, 9, 0, 0, 0, 0], false));
    }

    /// A boot lost its advice for what it allocates once and keeps.
    #[test]
    fn what_a_boot_keeps_is_a_population_unless_it_never_ceases() {
        assert!(!is_suspect([0, 9, 0, 0, 0, 0, 0, 0], true));
        assert!(!is_suspect([9, 9, 9, 9, 9, 9, 0, 0], true));
        assert!(is_suspect([1; PARTS], true));
    }

    #[test]
    fn what_the_allocator_or_packets_allocate_is_not_among_the_sites_called_most() {
        let noted = |site: &str, allocs| {
            let classes = Classes::new(&[64]);
            let site = Site { site: site.into(), allocs, ..Site::default() };
            note(&classes, &site, 40, of_sizes(&[40])).unwrap()
        };
        let sites = ["alloc_slab_obj_exts+0x58", "kstrdup+0x38", "__alloc_skb+0x8a", "f+0x1"];
        let found = hot(sites.iter().zip(1..).map(|(site, allocs)| noted(site, allocs)).collect());
        let names: Vec<_> = found.iter().map(|site| site.site.as_str()).collect();
        assert_eq!(names, ["f+0x1", "kstrdup+0x38"]);
    }

    #[test]
    fn an_object_a_few_bytes_over_a_class_is_noted() {
        let classes = Classes::new(&[256, 512, 1024]);
        let noted = |bytes: u64, live_peak: u64| {
            let waste_bytes_peak = (1024 - bytes) * live_peak;
            let under = crate::SiteUnder { waste_bytes_peak, ..Default::default() };
            let site =
                Site { site: "f+0x1".into(), live_peak, under: vec![under], ..Site::default() };
            note(&classes, &site, bytes, of_sizes(&[bytes])).unwrap()
        };
        let sites = [noted(520, 100), noted(544, 200), noted(545, 300), noted(520, 8)];
        let found: Vec<_> = over_class(&sites).iter().map(|site| site.live_peak).collect();
        // 32 bytes are a 16th of 512, 33 are more; eight objects waste less than a page.
        assert_eq!(found, [200, 100]);
    }
}
