//! What the events of a trace tell of the machine as it was before them.
//!
//! # How it works
//! The first event of a page says what it was: a page that leaves a zone's free lists was free, one that is given without
//! having left them was kept by that CPU. Events name migrate types of page blocks as well. Only rows with page numbers tell
//! such things.

use rustc_hash::FxHashMap;
use slablab_trace::{Meta, PageEvent, PageKind};

use crate::buddy::cpu_pages::has_list;
use crate::buddy::mapped::{Hints, Kept};
use crate::buddy::migrate::{Migrate, TYPES};
use crate::buddy::rules::Rules;

/// Where a zone's pages are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    /// The number of the page that the model counts from
    pub(super) first: u64,
    pub(super) pages: u64,
}

impl Span {
    /// Returns the number of a page within the zone.
    pub(super) fn page(&self, pfn: u64) -> Option<u32> {
        let page = pfn.checked_sub(self.first).filter(|page| *page < self.pages)?;
        u32::try_from(page).ok()
    }
}

/// What was seen so far.
#[derive(Debug)]
pub(super) struct FirstSeen {
    zones: Vec<Seen>,
    rules: Rules,
    /// Whether the trace has the events of blocks that leave free lists
    has_lists: bool,
    begin_ns: u64,
}

#[derive(Debug)]
struct Seen {
    span: Span,
    /// A bit for each page that an event has named
    pages: Vec<u64>,
    hints: Hints,
    /// What went back from CPUs without having been seen before, the first to go first
    drained: Vec<Kept>,
    /// Of each CPU the page block whose type its last event told
    told: FxHashMap<u16, u32>,
}

impl FirstSeen {
    pub(super) fn new(meta: &Meta, spans: &[Span], rules: Rules) -> FirstSeen {
        let seen = |span: &Span| Seen {
            span: *span,
            pages: vec![0; (span.pages / 64 + 1) as usize],
            hints: Hints::default(),
            drained: Vec::new(),
            told: FxHashMap::default(),
        };
        let count = |kind| meta.pages.as_ref().map_or(0, |pages| pages.count(kind));
        FirstSeen {
            zones: spans.iter().map(seen).collect(),
            rules,
            has_lists: count(PageKind::AllocZoneLocked) > 0,
            begin_ns: meta.zones.as_ref().map_or(0, |zones| zones.start.time_ns),
        }
    }

    /// Looks at the next event.
    pub(super) fn see(&mut self, event: &PageEvent) {
        let Some(pfn) = event.first_page() else { return };
        let is_early = event.time_ns < self.begin_ns;
        let FirstSeen { rules, has_lists, .. } = *self;
        let found = self.zones.iter_mut().find_map(|zone| Some((zone.span.page(pfn)?, zone)));
        match found {
            Some((page, zone)) if is_early => zone.see_early(event, page, &rules),
            Some((page, zone)) => zone.see(event, page, &rules, has_lists),
            None => {}
        }
    }

    /// Returns what was seen, by zone.
    pub(super) fn end(self) -> Vec<Hints> {
        let hints = |seen: Seen| {
            let mut hints = seen.hints;
            hints.kept.extend(seen.drained.into_iter().rev());
            hints
        };
        self.zones.into_iter().map(hints).collect()
    }
}

impl Seen {
    fn see(&mut self, event: &PageEvent, page: u32, rules: &Rules, has_lists: bool) {
        let (order, cpu) = (event.page.order, event.cpu);
        let migrate = Migrate::ALL.get(usize::from(event.page.migrate_type)).copied();
        let block = page >> rules.block_order;
        let before = self.told.remove(&cpu);
        let is_first = self.mark(page, order);
        match event.page.kind {
            PageKind::AllocZoneLocked => {
                if is_first {
                    self.hints.taken.push(page);
                }
                if let Some(migrate) = migrate
                    && !self.hints.types.contains_key(&block)
                {
                    self.hints.types.insert(block, migrate);
                    self.told.insert(cpu, block);
                }
            }
            PageKind::AllocExtfrag => {
                if is_first {
                    self.hints.taken.push(page);
                }
                let fallback = event.page.fallback_type;
                // The block may have left the lists of its new type just before.
                let is_new = before == Some(block) || !self.hints.types.contains_key(&block);
                if usize::from(fallback) < TYPES && is_new {
                    self.hints.types.insert(block, Migrate::ALL[usize::from(fallback)]);
                }
            }
            PageKind::Alloc if is_first => {
                let migrate = Migrate::of_event(event.page.migrate_type);
                if has_lists && has_list(order, rules) {
                    self.hints.kept.push(Kept { cpu, page, order, migrate });
                } else {
                    self.hints.taken.push(page);
                }
            }
            PageKind::PcpuDrain if is_first => {
                let migrate = Migrate::of_event(event.page.migrate_type);
                self.drained.push(Kept { cpu, page, order, migrate });
            }
            _ => {}
        }
    }

    /// Notes what an event makes of pages whose flags are being read.
    fn see_early(&mut self, event: &PageEvent, page: u32, rules: &Rules) {
        let order = event.page.order;
        let is_free = match event.page.kind {
            PageKind::AllocZoneLocked | PageKind::AllocExtfrag | PageKind::Alloc => false,
            PageKind::PcpuDrain => true,
            PageKind::Free => !has_list(order, rules),
            _ => return,
        };
        self.hints
            .early
            .extend((page..page.saturating_add(1 << order)).map(|page| (page, is_free)));
    }

    /// Notes that an event has named pages; returns whether none did before.
    fn mark(&mut self, page: u32, order: u8) -> bool {
        let mut is_first = true;
        for page in page..page.saturating_add(1 << order) {
            let Some(word) = self.pages.get_mut(page as usize / 64) else { break };
            is_first &= *word >> (page % 64) & 1 == 0;
            *word |= 1 << (page % 64);
        }
        is_first
    }
}

#[cfg(test)]
mod tests {
    use slablab_linux::Release;
    use slablab_trace::{NONE, PageMeta, RawPage};

    use super::*;

    #[test]
    fn the_first_event_of_a_page_tells_what_it_was() {
        let mut pages = PageMeta::default();
        pages.events_by_kind[PageKind::AllocZoneLocked as usize] = 1;
        let meta = Meta { pages: Some(pages), ..Meta::default() };
        let rules = Rules::of(Some(Release(6, 12)), 10, 9);
        let span = Span { first: 1024, pages: 4096 };
        let mut seen = FirstSeen::new(&meta, &[span], rules);
        let mut see = |kind, pfn, order, migrate_type, fallback_type| {
            let page = RawPage {
                kind,
                order,
                migrate_type,
                fallback_order: 3,
                fallback_type,
                change_ownership: 0,
            };
            let (time_ns, object, pid, gfp, stack, cpu) = (0, 0, 0, 0, NONE, 1);
            seen.see(&PageEvent { time_ns, object, pid, gfp, stack, cpu, pfn, page });
        };
        see(PageKind::Alloc, 1030, 0, 1, 9);
        see(PageKind::AllocZoneLocked, 1536, 1, 0, 9);
        see(PageKind::Alloc, 1536, 1, 0, 9);
        see(PageKind::Free, 1030, 0, 9, 9);
        see(PageKind::PcpuDrain, 1040, 0, 2, 9);
        // The page block had another type until just before.
        see(PageKind::AllocZoneLocked, 2050, 0, 1, 9);
        see(PageKind::AllocExtfrag, 2050, 0, 1, 2);
        see(PageKind::Alloc, 7, 0, 1, 9);
        let hints = seen.end().remove(0);
        let kept = |page, migrate| Kept { cpu: 1, page, order: 0, migrate };
        assert_eq!(hints.kept, [kept(6, Migrate::Movable), kept(16, Migrate::Reclaimable)]);
        assert_eq!(hints.taken, [512, 1026]);
        assert_eq!(hints.types.get(&1), Some(&Migrate::Unmovable));
        assert_eq!(hints.types.get(&2), Some(&Migrate::Reclaimable));
    }
}
