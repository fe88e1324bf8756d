//! Why a change is advised, in sentences: what it does, what the objects are, and what speaks against it.

use slablab_replay::{Advice, Change, NotTried, Profile, SizeCount, Worth};
use slablab_report::counted;

use crate::output::{bytes, duration};

/// Objects that live shorter than this are reused before it matters where they lie.
const SHORT_NS: u64 = 100_000;

/// Says what a change does, and what the objects are.
pub(crate) fn reason(advice: &Advice) -> String {
    let Advice { live_peak, object_bytes, class_bytes, before, after, .. } = advice;
    let lie = if *live_peak == 1 { "lies" } else { "lie" };
    let objects = counted(*live_peak, "object");
    // The cache may be kmalloc-cg-96 or kmalloc-rcl-96 as well as kmalloc-96, and kmalloc-2k is of 2048 B.
    let what = match &advice.change {
        Change::Dedicate { .. } if has_one_size(&advice.profile) => {
            format!("{objects} of {object_bytes} B {lie} in kmalloc's class of {class_bytes} B")
        }
        Change::Dedicate { .. } => format!(
            "{objects} of up to {object_bytes} B {lie} in kmalloc's classes of up to {class_bytes} B"
        ),
        Change::Class { bytes } => {
            format!("Objects of {bytes} B and less lie in kmalloc's class of {class_bytes} B")
        }
    };
    let scattered = if advice.scattered { ", scattered" } else { "" };
    let mut sentences = vec![format!("{what}{scattered}.")];
    sentences.push(match (advice.saved_bytes_at_peak, advice.saved_bytes_mean) {
        (0, 0) => "The change would hold no page less.".to_owned(),
        (peak, mean) => {
            format!("The change holds {} at the peak, {} on average.", less(peak), less(mean))
        }
    });
    if advice.is_own_cache() {
        if *live_peak > 1 && before.lines_per_walk != after.lines_per_walk {
            let walked = match before.objects_per_walk {
                all if all >= *live_peak => "them".to_owned(),
                some => format!("{some} of them"),
            };
            sentences.push(format!(
                "A walk over {walked} touches {} in {} of 4 KiB instead of {} in {}.",
                counted(after.lines_per_walk, "cache line"),
                counted(after.pages_per_walk, "page"),
                before.lines_per_walk,
                before.pages_per_walk
            ));
        }
        sentences.extend(sizes(&advice.profile));
        sentences.push(lifetimes(&advice.profile));
    }
    sentences.join(" ")
}

/// Says what speaks against a change.
pub(crate) fn caveat(advice: &Advice) -> Option<String> {
    let Advice { profile, saved_bytes_loaded, saved_bytes_spread, .. } = advice;
    let half_ns = profile.lifetime.p50_ns;
    let waste = advice.class_bytes.saturating_sub(advice.object_bytes) * advice.live_peak;
    let slower = advice.fast_share_before - advice.fast_share_after;
    match advice.worth {
        Worth::MayLeak => Some(
            "Its objects grew in number to the end of the recording: look for a leak first (slablab leaks)."
                .into(),
        ),
        Worth::CostsMemory => {
            let costs = bytes(advice.saved_bytes_mean.unsigned_abs());
            let own = "The cache would keep slabs of its own on each CPU and node";
            Some(match has_one_size(profile) {
                true => format!("{own}, which cost {costs} to save {}.", bytes(waste)),
                false => format!(
                    "{own}, and give each object the room of the largest, which costs {costs}."
                ),
            })
        }
        _ if advice.is_own_cache() && (1..SHORT_NS).contains(&half_ns) => Some(
            "Its objects live too short for their place to matter: measure the fast path instead."
                .into(),
        ),
        worth
            if !worth.is_useful()
                && (1..=*saved_bytes_spread as i64).contains(saved_bytes_loaded) =>
        {
            Some(format!(
                "What it saves varies by {} over the trace, and is {} on average.",
                bytes(*saved_bytes_spread),
                bytes(saved_bytes_loaded.unsigned_abs())
            ))
        }
        _ if advice.saved_bytes_at_peak >= 4096 && advice.saved_bytes_end <= 0 => {
            Some("It saves while the load lasts, and nothing afterwards.".into())
        }
        _ if slower > 0.02 => {
            Some(format!("{:.1} % of the class's allocations leave the fast path.", slower * 100.0))
        }
        _ if advice.is_own_cache() && profile.keeps(advice.allocs) => Some(
            "What stays may be a population, which a cache helps, or a leak, which it does not."
                .into(),
        ),
        _ => None,
    }
}

/// Says why no cache of its own was tried for a call site.
pub(crate) fn why_not_tried(why: NotTried) -> &'static str {
    match why {
        NotTried::TooSmall => "it holds less than a page at any time",
        NotTried::FreesUnseen => "the frees of more than 10 % of its objects were not seen",
        NotTried::Own => "what it allocates is the allocator's own",
        NotTried::Payload => "it allocates the data of network packets",
        NotTried::Helper => {
            "it allocates for whoever calls it, and their sizes differ; record --stacks tells who, and advise then asks by owner"
        }
        NotTried::ManySizes => {
            "it asks for several sizes: they come from outside, and a cache of one size would overflow with the next"
        }
        NotTried::Untried => "others promise more than it, and no more can be tried in one pass",
    }
}

/// Returns whether a site asks for one size only, as far as is known.
fn has_one_size(profile: &Profile) -> bool {
    profile.sizes.len() <= 1 && profile.allocs_of_other_sizes == 0
}

/// Says how often which size was asked for, where the size is not said already.
fn sizes(profile: &Profile) -> Option<String> {
    if has_one_size(profile) {
        return None;
    }
    let all: u64 = profile.sizes.iter().map(|size| size.allocs).sum();
    let of = |size: &SizeCount| {
        format!("{:.0} % have {} B", 100.0 * size.allocs as f64 / all.max(1) as f64, size.bytes)
    };
    let sizes: Vec<_> = profile.sizes.iter().map(of).collect();
    Some(format!("Of them {}.", sizes.join(", ")))
}

/// Says how long the objects lived, and where they were freed.
fn lifetimes(profile: &Profile) -> String {
    let lifetime = &profile.lifetime;
    if lifetime.ended == 0 {
        return "None was freed in the trace.".to_owned();
    }
    let elsewhere = match profile.freed_elsewhere_share {
        0.0 => "each was freed by the CPU that allocated it".to_owned(),
        share => format!("another CPU freed {:.0} %", share * 100.0),
    };
    format!(
        "Half of those freed lived under {}, 99 of 100 under {}; {elsewhere}.",
        duration(lifetime.p50_ns),
        duration(lifetime.p99_ns)
    )
}

fn less(amount: i64) -> String {
    match amount {
        0 => "as much".to_owned(),
        n if n > 0 => format!("{} less", bytes(n.unsigned_abs())),
        n => format!("{} more", bytes(n.unsigned_abs())),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use slablab_replay::{Layout, LifetimeSummary};

    pub(crate) fn advice(live_peak: u64, saved: i64) -> Advice {
        Advice {
            change: Change::Dedicate { cache: "mine".into() },
            subject: "make+0x10".into(),
            allocs: live_peak,
            live_peak,
            object_bytes: 48,
            class_bytes: 64,
            saved_bytes_at_peak: saved,
            saved_bytes_mean: saved,
            saved_bytes_end: saved,
            saved_bytes_loaded: saved,
            saved_bytes_spread: 0,
            slab_bytes: 4096,
            before: Layout::default(),
            after: Layout::default(),
            fast_share_before: 0.9,
            fast_share_after: 0.9,
            scattered: false,
            profile: Profile::default(),
            worth: Worth::SavesMemory,
        }
    }

    #[test]
    fn what_varies_more_than_it_saves_says_so() {
        let worth = Worth::Negligible;
        let varying = Advice { worth, saved_bytes_spread: 9_000, ..advice(100, 8_192) };
        let said = caveat(&varying).unwrap();
        assert_eq!(
            said,
            "What it saves varies by 8.79 KiB over the trace, and is 8.00 KiB on average."
        );
        let lifetime = LifetimeSummary { ended: 600, ..LifetimeSummary::default() };
        let profile = Profile { lifetime, ..Profile::default() };
        assert_eq!(caveat(&Advice { profile, ..advice(600, 8192) }), None);
        let kept = caveat(&advice(600, 8192)).unwrap();
        assert!(kept.starts_with("What stays may be a population"), "{kept}");
    }

    #[test]
    fn sizes_and_lifetimes_are_in_words() {
        let lifetime =
            LifetimeSummary { ended: 9, mean_ns: 1, p50_ns: 2_097_151, p99_ns: 4_294_967_295 };
        let size = |bytes, allocs| SizeCount { bytes, allocs };
        let sizes = vec![size(40, 30), size(48, 10)];
        let profile =
            Profile { sizes, lifetime, freed_elsewhere_share: 0.31, ..Profile::default() };
        let said = reason(&Advice { profile, ..advice(40, 0) });
        assert!(
            said.ends_with(
                "Of them 75 % have 40 B, 25 % have 48 B. Half of those freed lived under 2.10 ms, 99 of 100 under 4.29 s; \
                 another CPU freed 31 %."
            ),
            "{said}"
        );
    }

    #[test]
    fn what_costs_says_what_it_costs_to_save() {
        let costly = Advice { worth: Worth::CostsMemory, ..advice(100, -65_536) };
        let said = caveat(&costly).unwrap();
        assert!(said.ends_with("which cost 64.0 KiB to save 1.56 KiB."), "{said}");
    }

    /// 130 objects, 96 % of them of 40 B, used to be "130 objects of 1032 B in kmalloc-2048", and a cache "costs 57 KiB
    /// to save 129 KiB".
    #[test]
    fn objects_of_several_sizes_are_not_all_as_large_as_the_largest() {
        let size = |bytes, allocs| SizeCount { bytes, allocs };
        let profile = Profile { sizes: vec![size(40, 96), size(1032, 1)], ..Profile::default() };
        let worth = Worth::CostsMemory;
        let mixed = Advice {
            worth,
            profile,
            object_bytes: 1032,
            class_bytes: 2048,
            ..advice(130, -58_368)
        };
        let said = reason(&mixed);
        assert!(
            said.starts_with(
                "130 objects of up to 1032 B lie in kmalloc's classes of up to 2048 B."
            ),
            "{said}"
        );
        let caveat = caveat(&mixed).unwrap();
        assert!(caveat.ends_with("the room of the largest, which costs 57.0 KiB."), "{caveat}");
    }

    #[test]
    fn a_reason_names_objects_and_bytes() {
        assert_eq!(
            reason(&advice(600, 8192)),
            "600 objects of 48 B lie in kmalloc's class of 64 B. The change holds 8.00 KiB less at the peak, 8.00 KiB less on \
             average. None was freed in the trace."
        );
    }

    /// 326 cache lines used to lie "in 6 pages" of a machine whose pages have 16 KiB.
    #[test]
    fn pages_of_a_walk_are_said_to_have_4_kib() {
        let layout = |lines_per_walk, pages_per_walk| Layout {
            lines_per_walk,
            pages_per_walk,
            objects_per_walk: 600,
            ..Layout::default()
        };
        let walked = Advice { before: layout(900, 12), after: layout(500, 8), ..advice(600, 8192) };
        let said = reason(&walked);
        assert!(
            said.contains("500 cache lines in 8 pages of 4 KiB instead of 900 in 12."),
            "{said}"
        );
    }

    /// "8.0 KiB saved" used to be said of objects that were never freed.
    #[test]
    fn a_site_that_may_leak_is_no_saving() {
        let leak = Advice { worth: Worth::MayLeak, ..advice(5_000, 8192) };
        assert!(caveat(&leak).unwrap().contains("look for a leak first"));
    }
}
