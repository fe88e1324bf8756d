//! How long threads made room for the pages that they asked for: direct reclaim, reclaim in a cgroup, and compaction.
//!
//! # How it works
//! A wait lasts from its begin to the next end of its kind in the same thread. What has no begin or no end in the trace is
//! counted apart, and lasts nothing.
//!
//! Linux counterpart: `__perform_reclaim()` in `mm/page_alloc.c`, `compact_zone()` in `mm/compaction.c` @ 6.18.

use rustc_hash::FxHashMap;
use slablab_trace::{PageEvent, PageKind, TraceReader};

use super::moments::Programs;
use crate::error::Error;

/// What a thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WaitKind {
    /// Pages of others are freed first.
    Reclaim,
    /// Pages of a cgroup that has reached its limit are freed.
    CgroupReclaim,
    /// Pages of others are moved together.
    Compaction,
}

impl WaitKind {
    /// All
    pub const ALL: [WaitKind; 3] =
        [WaitKind::Reclaim, WaitKind::CgroupReclaim, WaitKind::Compaction];

    /// Returns what people call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            WaitKind::Reclaim => "direct reclaim",
            WaitKind::CgroupReclaim => "cgroup reclaim",
            WaitKind::Compaction => "compaction",
        }
    }

    /// Returns the kinds of events that begin and end it.
    const fn events(self) -> (PageKind, PageKind) {
        match self {
            WaitKind::Reclaim => (PageKind::ReclaimBegin, PageKind::ReclaimEnd),
            WaitKind::CgroupReclaim => (PageKind::CgroupReclaimBegin, PageKind::CgroupReclaimEnd),
            WaitKind::Compaction => (PageKind::CompactionBegin, PageKind::CompactionEnd),
        }
    }
}

/// The waits of one kind, of one program, for blocks of one order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageWaits {
    /// What for
    pub kind: WaitKind,
    /// The name of the program, or "" where the trace does not tell it
    pub program: String,
    /// The order that was asked for; the events of compaction do not tell
    pub order: Option<u8>,
    /// How many there were, those without a begin or an end left out
    pub waits: u64,
    /// How long they lasted, all together
    pub total_ns: u64,
    /// How long the longest lasted
    pub longest_ns: u64,
    /// Those without a begin or an end
    pub unended: u64,
}

/// Finds the waits of a trace, those that lasted longest first.
///
/// # Errors
/// When the trace is damaged.
pub fn page_waits(trace: &TraceReader) -> Result<Vec<PageWaits>, Error> {
    let Some(pages) = &trace.meta().pages else { return Ok(Vec::new()) };
    let is_any = |kind: WaitKind| pages.count(kind.events().0) + pages.count(kind.events().1) > 0;
    if !WaitKind::ALL.into_iter().any(is_any) {
        return Ok(Vec::new());
    }
    let mut count = Count {
        programs: Programs::of(trace.meta()),
        begun: FxHashMap::default(),
        found: FxHashMap::default(),
    };
    for batch in trace.page_batches() {
        for event in batch?.iter() {
            count.event(event);
        }
    }
    Ok(count.end())
}

/// A kind, a program's number, and an order.
type Group = (WaitKind, u32, Option<u8>);

/// Waits in the making.
struct Count {
    programs: Programs,
    /// The wait of a thread that has no end yet: its group, and when it began
    begun: FxHashMap<(WaitKind, u32), (Group, u64)>,
    found: FxHashMap<Group, PageWaits>,
}

impl Count {
    fn event(&mut self, event: &PageEvent) {
        let (time_ns, pid) = (event.time_ns, event.pid);
        for kind in WaitKind::ALL {
            let (begin, end) = kind.events();
            if event.page.kind == begin {
                let order = (kind != WaitKind::Compaction).then_some(event.page.order);
                let group = (kind, self.programs.number(pid), order);
                if let Some((before, _)) = self.begun.insert((kind, pid), (group, time_ns)) {
                    self.of(before).unended += 1;
                }
            } else if event.page.kind == end {
                let Some((group, begun_ns)) = self.begun.remove(&(kind, pid)) else {
                    let group = (kind, self.programs.number(pid), None);
                    self.of(group).unended += 1;
                    continue;
                };
                let lasted_ns = time_ns.saturating_sub(begun_ns);
                let of = self.of(group);
                of.waits += 1;
                of.total_ns = of.total_ns.saturating_add(lasted_ns);
                of.longest_ns = of.longest_ns.max(lasted_ns);
            }
        }
    }

    fn of(&mut self, group: Group) -> &mut PageWaits {
        let (kind, program, order) = group;
        let program = self.programs.names.get(program as usize).cloned().unwrap_or_default();
        self.found.entry(group).or_insert_with(|| PageWaits {
            kind,
            program,
            order,
            waits: 0,
            total_ns: 0,
            longest_ns: 0,
            unended: 0,
        })
    }

    fn end(mut self) -> Vec<PageWaits> {
        for (group, _) in std::mem::take(&mut self.begun).into_values() {
            self.of(group).unended += 1;
        }
        let mut all: Vec<PageWaits> = self.found.into_values().collect();
        all.sort_by(|one, other| {
            let key = |it: &PageWaits| (it.kind, it.program.clone(), it.order);
            other.total_ns.cmp(&one.total_ns).then_with(|| key(one).cmp(&key(other)))
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use slablab_trace::{Meta, NONE, RawPage, TraceWriter};

    use super::*;

    use PageKind::{CompactionBegin, CompactionEnd, ReclaimBegin, ReclaimEnd};

    /// Finds the waits of these rows: time, kind, order, thread.
    fn waits(rows: &[(u64, PageKind, u8, u32)]) -> Vec<PageWaits> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let mut writer = TraceWriter::create(&path).unwrap();
        for &(time_ns, kind, order, pid) in rows {
            let page = RawPage {
                kind,
                order,
                migrate_type: slablab_trace::NO_BYTE,
                fallback_order: slablab_trace::NO_BYTE,
                fallback_type: slablab_trace::NO_BYTE,
                change_ownership: slablab_trace::NO_BYTE,
            };
            let (gfp, stack, cpu, object, pfn) = (0xcc0, NONE, 0, NONE, slablab_trace::NO_PAGE);
            writer
                .push_page(&PageEvent { time_ns, object, pid, gfp, stack, cpu, pfn, page })
                .unwrap();
        }
        let comms = [(1, "sh".to_owned()), (2, "tar".to_owned())].into();
        writer.finish(Meta { comms, ..Meta::default() }).unwrap();
        page_waits(&TraceReader::open(path).unwrap()).unwrap()
    }

    #[test]
    fn a_wait_lasts_from_its_begin_to_the_end_in_the_same_thread() {
        let found = waits(&[
            (10, ReclaimBegin, 3, 2),
            (12, ReclaimBegin, 0, 1),
            (15, CompactionBegin, 0, 2),
            (20, ReclaimEnd, 0, 1),
            (25, CompactionEnd, 0, 2),
            (40, ReclaimEnd, 0, 2),
            (50, ReclaimBegin, 3, 2),
            (55, ReclaimEnd, 0, 2),
        ]);
        let rows: Vec<_> = found
            .iter()
            .map(|it| {
                (it.kind.name(), &*it.program, it.order, it.waits, it.total_ns, it.longest_ns)
            })
            .collect();
        assert_eq!(
            rows,
            [
                ("direct reclaim", "tar", Some(3), 2, 35, 30),
                ("compaction", "tar", None, 1, 10, 10),
                ("direct reclaim", "sh", Some(0), 1, 8, 8),
            ]
        );
        assert_eq!(found.iter().map(|it| it.unended).sum::<u64>(), 0);
    }

    #[test]
    fn a_wait_that_begins_before_the_trace_or_ends_after_it_lasts_nothing() {
        let found =
            waits(&[(5, ReclaimEnd, 0, 1), (10, ReclaimBegin, 2, 1), (20, ReclaimBegin, 2, 1)]);
        let rows: Vec<_> =
            found.iter().map(|it| (it.order, it.waits, it.total_ns, it.unended)).collect();
        assert_eq!(rows, [(None, 0, 0, 1), (Some(2), 0, 0, 2)]);
        assert!(waits(&[(5, PageKind::Alloc, 0, 1)]).is_empty());
    }
}
