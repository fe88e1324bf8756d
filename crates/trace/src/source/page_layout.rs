//! Decodes the records of the page allocator's events: their fields are looked up once in the format, and then read at
//! those offsets.
//!
//! # How it works
//! A page is known by its number (`pfn`); before Linux 3.19 an event has the address of its `struct page`, which serves as
//! well, as only whether two are the same matters. An allocation that failed has the number -1, or the address 0.
//!
//! Linux counterpart: `include/trace/events/kmem.h`, `vmscan.h` and `compaction.h` @ 6.1 and 6.18.

use super::format::{EventFormat, Place};
use super::kmem::{Maker, number};
use crate::page_event::{PageKind, RawPage};
use crate::{NO_BYTE, NO_PAGE, RawEvent};

/// Where an event says which page it is of.
#[derive(Debug, Clone, Copy)]
enum PagePlace {
    Number(Place),
    /// The address of its `struct page`
    Address(Place),
    /// It is of none.
    None,
}

/// Where one event of pages keeps its fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageLayout {
    kind: PageKind,
    pub(crate) maker: Maker,
    page: PagePlace,
    order: Option<Place>,
    migrate_type: Option<Place>,
    gfp: Option<Place>,
    fallback_order: Option<Place>,
    fallback_type: Option<Place>,
    change_ownership: Option<Place>,
}

impl PageLayout {
    /// Returns where the fields of an event of pages are, `None` of another event; says which field is missing otherwise.
    pub(crate) fn new(format: &EventFormat) -> Result<Option<PageLayout>, String> {
        let Some(kind) = PageKind::of_event(&format.name) else { return Ok(None) };
        let page = match number(format, "pfn") {
            _ if !kind.is_of_block() => PagePlace::None,
            Ok(place) => PagePlace::Number(place),
            Err(missing) => PagePlace::Address(number(format, "page").map_err(|_| missing)?),
        };
        let of = |name: &str| number(format, name).ok();
        let (order, migrate_type) = match kind {
            PageKind::AllocExtfrag => {
                (Some(number(format, "alloc_order")?), of("alloc_migratetype"))
            }
            // One page a record: batches are of single pages.
            PageKind::FreeBatched => (of("order"), None),
            kind if !kind.is_of_block() && !kind.is_reclaim() => (None, None),
            _ => (Some(number(format, "order")?), of("migratetype")),
        };
        Ok(Some(PageLayout {
            kind,
            maker: Maker::new(format)?,
            page,
            order,
            migrate_type,
            gfp: kind.has_gfp().then(|| number(format, "gfp_flags")).transpose()?,
            fallback_order: of("fallback_order"),
            fallback_type: of("fallback_migratetype"),
            change_ownership: of("change_ownership"),
        }))
    }

    /// Reads a record of `cpu`; `None` when it is too short.
    #[inline]
    pub(crate) fn decode(&self, record: &[u8], time_ns: u64, cpu: u32) -> Option<RawEvent> {
        let byte = |place: Option<Place>| match place {
            Some(place) => place.unsigned(record).map(to_byte),
            None => Some(NO_BYTE),
        };
        let ptr = match self.page {
            PagePlace::Number(place) => whole(place.unsigned(record)?, place),
            PagePlace::Address(place) => match place.unsigned(record)? {
                0 => NO_PAGE,
                address => address,
            },
            PagePlace::None => 0,
        };
        let page = RawPage {
            kind: self.kind,
            order: match self.order {
                Some(place) => to_byte(place.unsigned(record)?),
                None => 0,
            },
            migrate_type: byte(self.migrate_type)?,
            fallback_order: byte(self.fallback_order)?,
            fallback_type: byte(self.fallback_type)?,
            change_ownership: byte(self.change_ownership)?,
        };
        Some(RawEvent {
            time_ns,
            cpu,
            pid: self.maker.pid(record)?,
            ptr,
            gfp: match self.gfp {
                Some(place) => place.unsigned(record)? as u32,
                None => 0,
            },
            page: Some(page),
            ..RawEvent::EMPTY
        })
    }
}

/// Returns a small number as a byte; what is none of the kernel's is none at all.
pub(super) fn to_byte(number: u64) -> u8 {
    u8::try_from(number).unwrap_or(NO_BYTE)
}

/// Returns the number of a page, -1 of 32 bits as [`NO_PAGE`].
fn whole(number: u64, place: Place) -> u64 {
    let all = u64::MAX >> (64 - 8 * place.bytes.clamp(1, 8) as u32);
    if number == all { NO_PAGE } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux 6.18 describes it.
    const ALLOC: &str = "name: mm_page_alloc\nID: 653\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\
        \tfield:unsigned long pfn;\toffset:8;\tsize:8;\tsigned:0;\n\
        \tfield:unsigned int order;\toffset:16;\tsize:4;\tsigned:0;\n\
        \tfield:unsigned long gfp_flags;\toffset:24;\tsize:8;\tsigned:0;\n\
        \tfield:int migratetype;\toffset:32;\tsize:4;\tsigned:1;\n";

    fn record(pfn: u64) -> Vec<u8> {
        let words = [7 << 32, pfn, 3, 0x140cca, 1];
        words.iter().flat_map(|word: &u64| word.to_le_bytes()).take(36).collect()
    }

    #[test]
    fn an_allocation_of_pages_is_read_at_the_places_of_its_format() {
        let layout = PageLayout::new(&EventFormat::parse(ALLOC).unwrap()).unwrap().unwrap();
        let event = layout.decode(&record(0x1234), 9, 1).unwrap();
        let page = event.page.unwrap();
        assert_eq!((event.ptr, event.pid, event.gfp), (0x1234, 7, 0x140cca));
        assert_eq!((page.kind, page.order, page.migrate_type), (PageKind::Alloc, 3, 1));
        assert_eq!((page.fallback_order, page.change_ownership), (NO_BYTE, NO_BYTE));
        assert_eq!(layout.decode(&record(u64::MAX), 9, 1).unwrap().ptr, NO_PAGE);
        assert_eq!(layout.decode(&record(1)[..35], 9, 1), None);
    }

    #[test]
    fn a_thread_that_makes_room_has_no_page() {
        let format = ALLOC.replace("mm_page_alloc", "mm_vmscan_direct_reclaim_begin");
        let layout = PageLayout::new(&EventFormat::parse(&format).unwrap()).unwrap().unwrap();
        let event = layout.decode(&record(0x1234), 9, 1).unwrap();
        let page = event.page.unwrap();
        assert_eq!((event.ptr, event.pid, event.gfp), (0, 7, 0x140cca));
        assert_eq!((page.kind, page.order), (PageKind::ReclaimBegin, 3));
        let format = format.replace(" order;", " other;");
        PageLayout::new(&EventFormat::parse(&format).unwrap()).unwrap_err();
    }

    #[test]
    fn a_format_without_a_page_is_refused_and_one_of_another_event_is_none_of_ours() {
        let format = |text: &str| PageLayout::new(&EventFormat::parse(text).unwrap());
        assert!(format(&ALLOC.replace(" pfn", " x")).unwrap_err().contains("field pfn"));
        assert!(
            format(&ALLOC.replace("mm_page_alloc", "mm_compaction_suitable")).unwrap().is_none()
        );
        // As kernels of before 3.19 have it.
        let old = ALLOC.replace("unsigned long pfn", "struct page * page");
        let layout = format(&old).unwrap().unwrap();
        assert_eq!(layout.decode(&record(0), 9, 1).unwrap().ptr, NO_PAGE);
    }
}
