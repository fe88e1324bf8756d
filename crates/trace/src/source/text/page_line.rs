//! The fields of the page allocator's events in a text: `page=0x2cc6b3 pfn=0x2cc6b3 order=0 migratetype=0 gfp_flags=...`.
//!
//! # How it works
//! The page is known by `pfn`. Where `page` is null, the allocation failed: then `pfn` says 0, which is the number of
//! a page, too.
//!
//! Linux counterpart: `include/trace/events/kmem.h`, `vmscan.h` and `compaction.h` @ 6.1 and 6.18.

use slablab_linux::Gfp;

use super::fields::{Other, first_word, number, pairs};
use crate::page_event::{ORDER_MAX, PageKind, RawPage};
use crate::source::page_layout::to_byte;
use crate::{NO_BYTE, NO_PAGE, RawEvent};

/// What names of events of pages begin with.
pub(in super::super) const NAMES: [&str; 4] =
    ["mm_page_", "mm_vmscan_direct_reclaim_", "mm_vmscan_memcg_reclaim_", "mm_compaction_"];

/// Returns the fields that an event may begin with.
const fn first_fields(kind: PageKind) -> &'static [&'static str] {
    match kind {
        PageKind::ReclaimBegin | PageKind::CgroupReclaimBegin => &["order="],
        PageKind::ReclaimEnd | PageKind::CgroupReclaimEnd => &["nr_reclaimed="],
        PageKind::CompactionBegin | PageKind::CompactionEnd => &["zone_start="],
        _ => &["page=", "pfn="],
    }
}

/// Splits at the name of an event of pages: what is left of it, and the fields right of it.
pub(super) fn split(line: &str) -> Option<(PageKind, &str, &str)> {
    let name = NAMES.into_iter().find_map(|begin| line.find(begin))?;
    let colon = line[name..].find(':')? + name;
    let kind = PageKind::of_event(line[name..colon].trim_end())?;
    // With addresses of events printed, more stands between the name and its fields.
    let first = first_fields(kind);
    let is_field = |at: &usize| first.iter().any(|field| line[*at..].starts_with(field));
    let fields = line[colon..].match_indices(' ').map(|(at, _)| at + colon + 1).find(is_field)?;
    let head = &line[..name];
    let folder = head.strip_suffix(':').and_then(|head| head.strip_suffix(kind.folder()));
    let name = folder.map_or(name, str::len);
    Some((kind, &line[..name], &line[fields..]))
}

/// Reads the fields into an event.
pub(super) fn read(kind: PageKind, fields: &str, event: &mut RawEvent) -> Result<(), Other> {
    let mut page = RawPage::new(kind);
    let (mut pfn, mut order, mut is_null) = (None, None, false);
    let byte = |value: &str| number(value).map_or(NO_BYTE, to_byte);
    for (key, value) in pairs(fields) {
        match key {
            "page" => is_null = is_null_page(first_word(value)),
            "pfn" => pfn = number(value),
            "order" | "alloc_order" => order = number(value),
            "migratetype" | "alloc_migratetype" => page.migrate_type = byte(value),
            "fallback_order" => page.fallback_order = byte(value),
            "fallback_migratetype" => page.fallback_type = byte(value),
            "change_ownership" => page.change_ownership = byte(value),
            "gfp_flags" if kind.has_gfp() => {
                event.gfp = Gfp::parse(first_word(value)).0;
            }
            _ => {}
        }
    }
    if !kind.is_of_block() {
        page.order = match order {
            _ if !kind.is_reclaim() => 0,
            Some(order) => to_byte(order).min(ORDER_MAX + 1),
            None => return Err(Other::Broken("line is cut short behind order")),
        };
        event.page = Some(page);
        return Ok(());
    }
    let Some(pfn) = pfn else { return Err(Other::Broken("line has no pfn")) };
    event.ptr = if is_null && kind == PageKind::Alloc { NO_PAGE } else { pfn };
    page.order = match order {
        Some(order) => to_byte(order).min(ORDER_MAX + 1),
        None if kind == PageKind::FreeBatched => 0,
        None => return Err(Other::Broken("line is cut short before order")),
    };
    event.page = Some(page);
    Ok(())
}

fn is_null_page(word: &str) -> bool {
    let digits = word.strip_prefix("0x").unwrap_or(word);
    let is_zero = !digits.is_empty() && digits.bytes().all(|digit| digit == b'0');
    is_zero || matches!(word, "(null)" | "(nil)" | "NULL")
}

#[cfg(test)]
mod tests {
    use super::super::line::parse;
    use super::*;

    #[test]
    fn all_dialects_say_the_same_of_pages() {
        let fields =
            "page=0x2cc6b3 pfn=0x2cc6b3 order=2 migratetype=1 gfp_flags=GFP_KERNEL|__GFP_COMP";
        let heads = [
            "perf 16286 [001] 55567.423236: kmem:mm_page_alloc:",
            "perf-16286   [001] .....  55567.423236: mm_page_alloc:",
            "perf-16286 [001] 55567.423236: mm_page_alloc:        ",
            "perf-16286     1d.h1. 55567423236us+: mm_page_alloc:",
            "opt cgu.00 16286/16286 [001] 55567.423236:     1 kmem:mm_page_alloc:",
        ];
        for head in heads {
            let text = format!("{head} {fields}");
            let event = parse(&text).unwrap().event;
            let page = event.page.unwrap();
            assert_eq!((event.ptr, event.cpu, event.pid), (0x2cc6b3, 1, 16286), "{head}");
            assert_eq!((event.time_ns, event.gfp), (55_567_423_236_000, 0x4_0cc0), "{head}");
            assert_eq!((page.kind, page.order, page.migrate_type), (PageKind::Alloc, 2, 1));
        }
    }

    #[test]
    fn an_allocation_without_a_page_failed() {
        for page in ["(null)", "(nil)", "0x0", "0000000000000000"] {
            let text = format!(
                "x-1 [000] 1.5: mm_page_alloc: page={page} pfn=0x0 order=4 migratetype=0 gfp_flags=GFP_KERNEL"
            );
            assert_eq!(parse(&text).unwrap().event.ptr, NO_PAGE, "{page}");
        }
        let text = "x-1 [000] 1.5: mm_page_free: page=(____ptrval____) pfn=77 order=0";
        assert_eq!(parse(text).unwrap().event.ptr, 77);
    }

    #[test]
    fn a_fallback_says_both_blocks() {
        let text = "x-1 [000] 1.5: mm_page_alloc_extfrag: page=00000000b1a2c3d4 pfn=0x99 alloc_order=0 fallback_order=9 \
            pageblock_order=9 alloc_migratetype=0 fallback_migratetype=1 fragmenting=0 change_ownership=1";
        let page = parse(text).unwrap().event.page.unwrap();
        assert_eq!((page.order, page.migrate_type), (0, 0));
        assert_eq!((page.fallback_order, page.fallback_type, page.change_ownership), (9, 1, 1));
    }

    #[test]
    fn a_thread_that_makes_room_is_read_in_all_dialects() {
        for (text, kind, order) in [
            (
                "tar-7 [000] ..... 1.5: mm_vmscan_direct_reclaim_begin: order=3 gfp_flags=GFP_KERNEL|__GFP_COMP",
                PageKind::ReclaimBegin,
                3,
            ),
            (
                "tar 7 [000] 1.5: vmscan:mm_vmscan_direct_reclaim_end: nr_reclaimed=64",
                PageKind::ReclaimEnd,
                0,
            ),
            (
                "tar 7 [000] 1.5: compaction:mm_compaction_begin: zone_start=0x1 migrate_pfn=0x1 free_pfn=0x2 \
                 zone_end=0x3, mode=sync",
                PageKind::CompactionBegin,
                0,
            ),
            (
                "tar-7 [000] ..... 1.5: mm_compaction_end: zone_start=0x1 migrate_pfn=0x1 free_pfn=0x2 zone_end=0x3, \
                 mode=async status=complete",
                PageKind::CompactionEnd,
                0,
            ),
        ] {
            let event = parse(text).unwrap().event;
            let page = event.page.unwrap();
            assert_eq!((page.kind, page.order, event.pid), (kind, order, 7), "{text}");
            assert_eq!(event.gfp, if order == 3 { 0x4_0cc0 } else { 0 }, "{text}");
        }
        let cut = "tar-7 [000] 1.5: mm_vmscan_direct_reclaim_begin: order=";
        assert_eq!(parse(cut).unwrap_err(), Other::Broken("line is cut short behind order"));
    }

    #[test]
    fn lines_that_are_cut_or_of_impossible_orders_are_told() {
        let is = |text: &str| parse(text).unwrap_err();
        let cut = "x-1 [000] 1.5: mm_page_alloc: page=0x5 pfn=0x5 ord";
        assert_eq!(is(cut), Other::Broken("line is cut short before order"));
        assert_eq!(is("x-1 [000] 1.5: mm_page_free: page=0x5"), Other::Broken("line has no pfn"));
        let event = parse("x-1 [000] 1.5: mm_page_free: page=0x5 pfn=0x5 order=900").unwrap().event;
        assert!(event.page.unwrap().beyond_linux().is_some());
        assert!(parse("mm_page_alloc: page=0x5 pfn=0x5 order=0").is_err());
        // A thread may be called as an event begins.
        let text = "mm_page_-1 [000] 1.5: kfree: call_site=f ptr=0x12";
        assert_eq!(parse(text).unwrap().event.page, None);
    }
}
