//! Advice in words: one sentence why, one what speaks against it.

use crate::advice::result::{Advice, Change, Profile, Worth};
use crate::metrics::survey::SizeCount;

/// Objects that live shorter than this are reused before anybody sees where they lie.
const SHORT_NS: u64 = 100_000;

/// Says what the change does and why, on a machine with pages of so many bytes.
pub(crate) fn reason(advice: &Advice, page_bytes: u64) -> String {
    let what = match &advice.change {
        // The cache may be kmalloc-cg-96 or kmalloc-rcl-96 as well as kmalloc-96, and kmalloc-2k is of 2048 B.
        Change::Dedicate { .. } if has_one_size(&advice.profile) => format!(
            "{} of {} B {} in kmalloc's class of {} B",
            counted(advice.live_peak, "object"),
            advice.object_bytes,
            if advice.live_peak == 1 { "lies" } else { "lie" },
            advice.class_bytes
        ),
        Change::Dedicate { .. } => format!(
            "{} of up to {} B {} in kmalloc's classes of up to {} B",
            counted(advice.live_peak, "object"),
            advice.object_bytes,
            if advice.live_peak == 1 { "lies" } else { "lie" },
            advice.class_bytes
        ),
        Change::Class { bytes } => format!(
            "objects of {bytes} B and less lie in kmalloc's class of {} B",
            advice.class_bytes
        ),
    };
    let memory = match (advice.saved_bytes_at_peak, advice.saved_bytes_mean) {
        (0, 0) => "no page less would be held".to_owned(),
        (peak, mean) => format!("{} at peak, {} on average", saved(peak), saved(mean)),
    };
    let lines = (advice.before.lines_per_walk, advice.after.lines_per_walk);
    let walk = match advice.change {
        Change::Dedicate { .. } if advice.live_peak > 1 && lines.0 != lines.1 => format!(
            "; a walk over {} touches {} in {}{} instead of {} in {}",
            walked(advice),
            counted(lines.1, "cache line"),
            counted(advice.after.pages_per_walk, "page"),
            // It is counted in such pages, whatever the machine has.
            if page_bytes == 4096 { "" } else { " of 4 KiB" },
            lines.0,
            advice.before.pages_per_walk
        ),
        _ => String::new(),
    };
    let scattered = if advice.scattered { ", scattered" } else { "" };
    let objects = match advice.change {
        Change::Dedicate { .. } => format!(" {}.", objects(&advice.profile)),
        Change::Class { .. } => String::new(),
    };
    format!("{what}{scattered}: {memory}{walk}.{objects}")
}

/// Returns whether a site asks for one size only, as far as is known.
fn has_one_size(profile: &Profile) -> bool {
    profile.sizes.len() <= 1 && profile.allocs_of_other_sizes == 0
}

/// Says over which of the objects a walk was counted: where most of them were there in a snapshot.
fn walked(advice: &Advice) -> String {
    match advice.before.objects_per_walk {
        all if all >= advice.live_peak => "them".to_owned(),
        some => format!("{some} of them"),
    }
}

/// Returns `1 page`, `2 pages`.
fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Says of what sizes a site's objects are, how long they live, and where they are freed.
pub(crate) fn objects(profile: &Profile) -> String {
    let all: u64 = profile.sizes.iter().map(|size| size.allocs).sum();
    let sizes = match &profile.sizes[..] {
        [] => "of unknown size".to_owned(),
        [one] => format!("all of {} B", one.bytes),
        sizes => {
            let share = |allocs: u64| 100.0 * allocs as f64 / all.max(1) as f64;
            let of = |size: &SizeCount| format!("{:.0} % of {} B", share(size.allocs), size.bytes);
            sizes.iter().map(of).collect::<Vec<_>>().join(", ")
        }
    };
    let lifetime = &profile.lifetime;
    if lifetime.ended == 0 {
        return format!("They are {sizes}; none was freed in the trace");
    }
    let elsewhere = match profile.freed_elsewhere_share {
        0.0 => "each is freed by the CPU that allocated it".to_owned(),
        share => format!("{:.0} % are freed by another CPU", share * 100.0),
    };
    format!(
        "They are {sizes}; half of those freed live under {}, 99 of 100 under {}; {elsewhere}",
        time(lifetime.p50_ns),
        time(lifetime.p99_ns)
    )
}

/// Says a time that is known to a power of two.
fn time(ns: u64) -> String {
    let (value, unit) = match ns {
        0..1_000 => (ns as f64, "ns"),
        1_000..1_000_000 => (ns as f64 / 1e3, "us"),
        1_000_000..1_000_000_000 => (ns as f64 / 1e6, "ms"),
        _ => (ns as f64 / 1e9, "s"),
    };
    if value < 10.0 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// Says what speaks against the change.
pub(crate) fn caveat(advice: &Advice) -> Option<String> {
    let lifetime_ns_p50 = advice.profile.lifetime.p50_ns;
    let short = lifetime_ns_p50 > 0 && lifetime_ns_p50 < SHORT_NS;
    let dedicated = matches!(advice.change, Change::Dedicate { .. });
    let waste = advice.class_bytes.saturating_sub(advice.object_bytes) * advice.live_peak;
    let slower = advice.fast_share_before - advice.fast_share_after;
    if advice.worth == Worth::CostsMemory {
        let costs = bytes(advice.saved_bytes_mean.unsigned_abs());
        return Some(match has_one_size(&advice.profile) {
            true => format!(
                "would pin slabs of its own on each CPU and node: costs {costs} to save {}",
                bytes(waste)
            ),
            false => format!(
                "would pin slabs of its own on each CPU and node, and give each object the room of the largest: costs \
                 {costs}"
            ),
        });
    }
    if dedicated && short {
        return Some(
            "its objects live too short to matter for long: measure the fast path instead".into(),
        );
    }
    let loaded = advice.saved_bytes_loaded;
    if !advice.worth.is_useful() && loaded > 0 && loaded <= advice.saved_bytes_spread as i64 {
        return Some(format!(
            "what it saves varies by {} over the trace, and is {} on average",
            bytes(advice.saved_bytes_spread),
            bytes(loaded.unsigned_abs())
        ));
    }
    if advice.saved_bytes_at_peak >= 4096 && advice.saved_bytes_end <= 0 {
        return Some("it saves while the load lasts, and nothing afterwards".into());
    }
    if slower > 0.02 {
        return Some(format!(
            "{:.1} % of the class's allocations leave the fast path",
            slower * 100.0
        ));
    }
    None
}

fn saved(amount: i64) -> String {
    match amount {
        0 => "nothing saved".to_owned(),
        n if n > 0 => format!("{} saved", bytes(n.unsigned_abs())),
        n => format!("{} more held", bytes(n.unsigned_abs())),
    }
}

fn bytes(n: u64) -> String {
    match n {
        0..=1023 => format!("{n} B"),
        // Where a slab more or less decides, 4.0 is not 3.9.
        1024..10_240 => format!("{:.1} KiB", n as f64 / 1024.0),
        10_240..=1_048_575 => format!("{:.0} KiB", n as f64 / 1024.0),
        _ => format!("{:.1} MiB", n as f64 / 1_048_576.0),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::advice::result::Layout;
    use crate::metrics::lifetimes::LifetimeSummary;

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
            reason: String::new(),
            caveat: None,
        }
    }

    #[test]
    fn what_varies_more_than_it_saves_says_so() {
        let worth = Worth::Negligible;
        let varying = Advice { worth, saved_bytes_spread: 9_000, ..advice(100, 8_192) };
        let said = caveat(&varying).unwrap();
        assert_eq!(
            said,
            "what it saves varies by 8.8 KiB over the trace, and is 8.0 KiB on average"
        );
        assert_eq!(caveat(&advice(600, 8192)), None);
    }

    #[test]
    fn sizes_and_lifetimes_are_in_words() {
        let lifetime =
            LifetimeSummary { ended: 9, mean_ns: 1, p50_ns: 2_097_151, p99_ns: 4_294_967_295 };
        let size = |bytes, allocs| SizeCount { bytes, allocs };
        let sizes = vec![size(40, 30), size(48, 10)];
        let profile =
            Profile { sizes, lifetime, freed_elsewhere_share: 0.31, ..Profile::default() };
        assert_eq!(
            objects(&profile),
            "They are 75 % of 40 B, 25 % of 48 B; half of those freed live under 2.1 ms, 99 of 100 under 4.3 s; \
             31 % are freed by another CPU"
        );
        let profile = Profile { sizes: vec![size(40, 1)], ..Profile::default() };
        assert_eq!(objects(&profile), "They are all of 40 B; none was freed in the trace");
    }

    #[test]
    fn what_costs_says_what_it_costs_to_save() {
        let costly = Advice { worth: Worth::CostsMemory, ..advice(100, -65_536) };
        let said = caveat(&costly).unwrap();
        assert!(said.ends_with("costs 64 KiB to save 1.6 KiB"), "{said}");
    }

    /// 130 objects, 96 % of them of 40 B, were "130 objects of 1032 B in kmalloc-2048", and a cache "costs 57 KiB to save
    /// 129 KiB".
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
        let said = reason(&mixed, 4096);
        assert!(
            said.starts_with(
                "130 objects of up to 1032 B lie in kmalloc's classes of up to 2048 B: "
            ),
            "{said}"
        );
        let caveat = caveat(&mixed).unwrap();
        assert!(caveat.ends_with("the room of the largest: costs 57 KiB"), "{caveat}");
    }

    #[test]
    fn a_reason_names_objects_and_bytes() {
        assert_eq!(
            reason(&advice(600, 8192), 4096),
            "600 objects of 48 B lie in kmalloc's class of 64 B: 8.0 KiB saved at peak, 8.0 KiB saved on average. They are of \
             unknown size; none was freed in the trace."
        );
    }

    /// 326 cache lines lay "in 6 pages" of a machine whose pages have 16 KiB.
    #[test]
    fn pages_of_another_size_than_the_machines_are_said_to_be() {
        let layout = |lines_per_walk, pages_per_walk| Layout {
            lines_per_walk,
            pages_per_walk,
            objects_per_walk: 600,
            ..Layout::default()
        };
        let walked = Advice { before: layout(900, 12), after: layout(500, 8), ..advice(600, 8192) };
        assert!(reason(&walked, 4096).contains("in 8 pages instead of 900 in 12."));
        assert!(reason(&walked, 16 << 10).contains("in 8 pages of 4 KiB instead of 900 in 12."));
    }
}
