//! Which blocks of pages were alive, and who had allocated them: at the peak, at the end, at any moment.
//!
//! How it works: allocations are counted by their [`PageHolder`], which is all that groups are made of: order, migrate type,
//! flags, stack and program. A group's numbers are sums over its holders, so that sums by each of them are equal to the page.
//! The page rows are read twice where the peak is asked for: the first time to find it.
//!
//! Invariants: a page counts from the allocation of its block until it is freed, alone or with its block.

use rustc_hash::FxHashMap;
use slablab_trace::{Meta, NONE, PageEvent, PageKind, TraceReader};

use super::moments::{Moments, Programs, When};
use crate::error::Error;

/// What a trace says of an allocation of pages that groups are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageHolder {
    /// Two to the power of this pages were asked for.
    pub order: u8,
    /// The migrate type as the recorded kernel numbers it
    pub migrate_type: u8,
    /// The flags as the recorded kernel numbers them
    pub gfp: u32,
    /// Number of the trace's stack, or none
    pub stack: u32,
    /// Index into [`PageHoldings::programs`]
    pub program: u32,
}

/// What a holder allocated.
#[derive(Debug, Clone)]
pub struct PageHolding {
    /// Who
    pub holder: PageHolder,
    /// Allocations
    pub allocs: u64,
    /// Their pages
    pub pages: u64,
    /// How many of its pages were alive at each moment that was asked for
    pub live: Vec<u64>,
    /// How many of its pages were alive at once, at most
    pub peak: u64,
    /// How many of its blocks ended
    pub ended: u64,
    /// How long these lived, all together
    pub lived_ns: u64,
}

/// Which pages were alive, and who had allocated them.
#[derive(Debug, Clone, Default)]
pub struct PageHoldings {
    /// By holder, in the order of their first allocations
    pub holders: Vec<PageHolding>,
    /// Names of programs; the first is "", for threads whose name is not in the trace
    pub programs: Vec<String>,
    /// The moments that were asked for, as times of the trace's clock
    pub times_ns: Vec<u64>,
    /// Pages that were freed and that the trace saw allocated
    pub freed_pages: u64,
}

/// Counts which pages were alive at these moments of a trace; `progress` is told the rows done so far, of
/// [`passes`](super::moments::passes) times all.
///
/// # Errors
/// When the trace is damaged.
pub fn page_holdings(
    trace: &TraceReader,
    moments: &[When],
    progress: &mut dyn FnMut(u64),
) -> Result<PageHoldings, Error> {
    let mut done = 0;
    let peak = match moments.contains(&When::Peak) {
        true => peak(trace, &mut done, progress)?,
        false => 0,
    };
    let mut count = Count::new(trace.meta(), moments.len());
    let pages = trace.meta().pages.as_ref();
    let mut left = Moments::new(moments, peak, pages.map_or(0, |pages| pages.time_first_ns));
    for batch in trace.page_batches() {
        let batch = batch?;
        for event in batch.iter() {
            left.pass(event.time_ns, |place, time_ns| count.look(place, time_ns));
            count.event(event);
        }
        done += batch.len() as u64;
        progress(done);
    }
    left.end(|place, time_ns| count.look(place, time_ns));
    Ok(count.holdings)
}

/// Returns whether pages of a block are free behind a row.
fn is_free(kind: PageKind) -> bool {
    matches!(kind, PageKind::Free | PageKind::FreeBatched | PageKind::ImplicitFree)
}

/// Returns how many page rows there are up to the peak of what is alive.
fn peak(trace: &TraceReader, done: &mut u64, progress: &mut dyn FnMut(u64)) -> Result<u64, Error> {
    let (mut live, mut most, mut peak, mut row) = (0u64, 0, 0, 0);
    for batch in trace.page_batches() {
        let batch = batch?;
        for event in batch.iter() {
            row += 1;
            if event.is_given() {
                live += event.pages();
            } else if event.object != NONE && is_free(event.page.kind) {
                live = live.saturating_sub(event.pages());
            }
            if live > most {
                (most, peak) = (live, row);
            }
        }
        *done += batch.len() as u64;
        progress(*done);
    }
    Ok(peak)
}

/// A block that is alive, or some of its pages.
#[derive(Debug, Clone, Copy, Default)]
struct Block {
    holding: u32,
    /// Pages that are not free, 0 where there is no block
    left: u64,
    time_ns: u64,
}

/// Holdings in the making.
struct Count {
    holdings: PageHoldings,
    moments: usize,
    /// How many pages are alive now, by holding
    live: Vec<u64>,
    known: FxHashMap<PageHolder, u32>,
    blocks: Vec<Block>,
    programs: Programs,
}

impl Count {
    fn new(meta: &Meta, moments: usize) -> Self {
        let programs = Programs::of(meta);
        let slots = meta.pages.as_ref().map_or(0, |pages| pages.slots as usize);
        let times_ns = vec![0; moments];
        Self {
            holdings: PageHoldings {
                programs: programs.names.clone(),
                times_ns,
                ..PageHoldings::default()
            },
            moments,
            live: Vec::new(),
            known: FxHashMap::default(),
            blocks: vec![Block::default(); slots],
            programs,
        }
    }

    /// Notes what is alive now for a moment.
    fn look(&mut self, place: usize, time_ns: u64) {
        self.holdings.times_ns[place] = time_ns;
        for (holding, live) in self.holdings.holders.iter_mut().zip(&self.live) {
            holding.live[place] = *live;
        }
    }

    fn event(&mut self, event: &PageEvent) {
        let Some(block) = self.blocks.get(event.object as usize).copied() else { return };
        if event.page.kind == PageKind::Alloc {
            // What a damaged trace never freed ends here.
            self.take(event, block, block.left);
            let (holding, pages) = (self.holding(event), event.pages());
            let time_ns = event.time_ns;
            self.blocks[event.object as usize] = Block { holding, left: pages, time_ns };
            let live = &mut self.live[holding as usize];
            *live += pages;
            let of = &mut self.holdings.holders[holding as usize];
            (of.allocs, of.pages, of.peak) = (of.allocs + 1, of.pages + pages, of.peak.max(*live));
        } else if is_free(event.page.kind) {
            self.take(event, block, event.pages().min(block.left));
        }
    }

    /// Takes pages off a block, which ends with the last of them.
    fn take(&mut self, event: &PageEvent, block: Block, pages: u64) {
        if pages == 0 {
            return;
        }
        let left = block.left - pages;
        self.blocks[event.object as usize].left = left;
        self.live[block.holding as usize] -= pages;
        self.holdings.freed_pages += pages;
        if left == 0 {
            let holding = &mut self.holdings.holders[block.holding as usize];
            holding.ended += 1;
            let lived_ns = event.time_ns.saturating_sub(block.time_ns);
            holding.lived_ns = holding.lived_ns.saturating_add(lived_ns);
        }
    }

    /// Returns the holding of an allocation.
    fn holding(&mut self, event: &PageEvent) -> u32 {
        let program = self.programs.number(event.pid);
        let PageEvent { gfp, stack, page, .. } = *event;
        let (order, migrate_type) = (page.order, page.migrate_type);
        let holder = PageHolder { order, migrate_type, gfp, stack, program };
        *self.known.entry(holder).or_insert_with(|| {
            self.holdings.holders.push(PageHolding {
                holder,
                allocs: 0,
                pages: 0,
                live: vec![0; self.moments],
                peak: 0,
                ended: 0,
                lived_ns: 0,
            });
            self.live.push(0);
            self.live.len() as u32 - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use slablab_trace::{NO_BYTE, NO_PAGE, RawPage, TraceWriter};

    use super::*;
    use crate::metrics::page_groups::{PageBy, PageLabels, page_groups};

    /// A trace of these page rows: time, kind, slot, order, thread.
    fn trace(rows: &[(u64, PageKind, u32, u8, u32)]) -> (tempfile::TempDir, TraceReader) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let mut writer = TraceWriter::create(&path).unwrap();
        for &(time_ns, kind, object, order, pid) in rows {
            let page = RawPage {
                kind,
                order,
                migrate_type: 1,
                fallback_order: NO_BYTE,
                fallback_type: NO_BYTE,
                change_ownership: NO_BYTE,
            };
            let (gfp, stack, cpu, pfn) = (0xcc0, NONE, 0, NO_PAGE);
            writer
                .push_page(&PageEvent { time_ns, object, pid, gfp, stack, cpu, pfn, page })
                .unwrap();
        }
        let comms = [(1, "sh".to_owned()), (2, "tar".to_owned())].into();
        writer.finish(Meta { comms, ..Meta::default() }).unwrap();
        (folder, TraceReader::open(path).unwrap())
    }

    use PageKind::{Alloc, Free, FreeBatched, ImplicitFree, PcpuDrain};

    #[test]
    fn parts_of_a_block_end_alone_and_the_block_with_the_last() {
        let (_folder, trace) = trace(&[
            (10, Alloc, 0, 2, 1),
            (20, Alloc, 1, 0, 2),
            (30, Free, 0, 1, 2),
            (40, PcpuDrain, NONE, 0, 2),
            (50, FreeBatched, 0, 0, 2),
            (60, Alloc, NONE, 3, 2),
            (70, Free, NONE, 9, 1),
            (90, ImplicitFree, 0, 0, 1),
        ]);
        let moments = [When::End, When::Peak, When::At(35)];
        let held = page_holdings(&trace, &moments, &mut |_| {}).unwrap();
        let live: Vec<_> = held.holders.iter().map(|one| (one.live.clone(), one.peak)).collect();
        assert_eq!(live, [(vec![0, 4, 2], 4), (vec![1, 1, 1], 1)]);
        assert_eq!((held.holders[0].ended, held.holders[0].lived_ns), (1, 80));
        assert_eq!((held.freed_pages, &held.times_ns[..]), (4, &[90, 20, 30][..]));
    }

    #[test]
    fn groups_by_anything_have_the_same_sum() {
        let rows =
            [(1, Alloc, 0, 2, 1), (2, Alloc, 1, 0, 2), (3, Alloc, 2, 2, 2), (4, Free, 0, 2, 1)];
        let (_folder, trace) = trace(&rows);
        let held = page_holdings(&trace, &[When::End], &mut |_| {}).unwrap();
        let labels = PageLabels::new(trace.meta(), &held, &[]);
        let groups = |by: &[PageBy]| {
            let groups = page_groups(&held, &labels, by);
            groups
                .into_iter()
                .map(|group| (group.names.join(" "), group.live[0]))
                .collect::<Vec<_>>()
        };
        assert_eq!(groups(&[]), [(String::new(), 5)]);
        assert_eq!(groups(&[PageBy::Order]), [("0".to_owned(), 1), ("2".to_owned(), 4)]);
        assert_eq!(groups(&[PageBy::Program]), [("sh".to_owned(), 0), ("tar".to_owned(), 5)]);
        assert_eq!(groups(&[PageBy::Use]), [("(no stack: cannot tell)".to_owned(), 5)]);
        assert_eq!(
            groups(&[PageBy::Gfp, PageBy::MigrateType]),
            [("GFP_KERNEL movable".to_owned(), 5)]
        );
    }
}
