//! Advice in words: one sentence why, one what speaks against it.

use crate::advice::result::{Advice, Change, Worth};

/// Objects that live shorter than this are reused before anybody sees where they lie.
const SHORT_NS: u64 = 100_000;

/// Says what the change does and why.
pub(crate) fn reason(advice: &Advice) -> String {
    let what = match &advice.change {
        Change::Dedicate { .. } => format!(
            "{} objects of {} B lie in kmalloc-{}",
            advice.live_peak, advice.object_bytes, advice.class_bytes
        ),
        Change::Class { bytes } => {
            format!("objects of {bytes} B and less lie in kmalloc-{}", advice.class_bytes)
        }
    };
    let memory = match (advice.saved_bytes_at_peak, advice.saved_bytes_mean) {
        (0, 0) => "no page less would be held".to_owned(),
        (peak, mean) => format!("{} at peak, {} on average", saved(peak), saved(mean)),
    };
    let lines = (advice.before.lines_per_walk, advice.after.lines_per_walk);
    let walk = match advice.change {
        Change::Dedicate { .. } if advice.live_peak > 1 && lines.0 != lines.1 => format!(
            "; a walk over them touches {} cache lines in {} pages instead of {} in {}",
            lines.1, advice.after.pages_per_walk, lines.0, advice.before.pages_per_walk
        ),
        _ => String::new(),
    };
    let scattered = if advice.scattered { ", scattered" } else { "" };
    format!("{what}{scattered}: {memory}{walk}.")
}

/// Says what speaks against the change.
pub(crate) fn caveat(advice: &Advice) -> Option<String> {
    let short = advice.lifetime_ns_p50 > 0 && advice.lifetime_ns_p50 < SHORT_NS;
    let dedicated = matches!(advice.change, Change::Dedicate { .. });
    let waste = advice.class_bytes.saturating_sub(advice.object_bytes) * advice.live_peak;
    let slower = advice.fast_share_before - advice.fast_share_after;
    if advice.worth == Worth::CostsMemory {
        return Some(format!(
            "would pin slabs of its own on each CPU and node: costs {} to save {}",
            bytes(advice.saved_bytes_mean.unsigned_abs()),
            bytes(waste)
        ));
    }
    if dedicated && short {
        return Some(
            "its objects live too short to matter for long: measure the fast path instead".into(),
        );
    }
    let saved = advice.saved_bytes_at_peak.unsigned_abs();
    if dedicated && advice.saved_bytes_at_peak > 0 && saved <= advice.slab_bytes && waste < saved {
        return Some(format!(
            "what is saved is one slab, and the objects waste {}: another run may not show it",
            bytes(waste)
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
mod tests {
    use super::*;
    use crate::advice::result::Layout;

    fn advice(live_peak: u64, saved: i64) -> Advice {
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
            slab_bytes: 4096,
            before: Layout::default(),
            after: Layout::default(),
            fast_share_before: 0.9,
            fast_share_after: 0.9,
            scattered: false,
            lifetime_ns_p50: 0,
            worth: Worth::SavesMemory,
            reason: String::new(),
            caveat: None,
        }
    }

    #[test]
    fn a_slab_more_than_the_objects_waste_is_chance() {
        let said = caveat(&advice(100, 4096)).expect("1,600 bytes of waste cannot save 4,096");
        assert_eq!(
            said,
            "what is saved is one slab, and the objects waste 1.6 KiB: another run may not show it"
        );
        assert_eq!(caveat(&advice(300, 4096)), None);
        assert_eq!(caveat(&advice(600, 8192)), None);
    }

    #[test]
    fn what_costs_says_what_it_costs_to_save() {
        let costly = Advice { worth: Worth::CostsMemory, ..advice(100, -65_536) };
        let said = caveat(&costly).unwrap();
        assert!(said.ends_with("costs 64 KiB to save 1.6 KiB"), "{said}");
    }

    #[test]
    fn a_reason_names_objects_and_bytes() {
        assert_eq!(
            reason(&advice(600, 8192)),
            "600 objects of 48 B lie in kmalloc-64: 8.0 KiB saved at peak, 8.0 KiB saved on average."
        );
    }
}
