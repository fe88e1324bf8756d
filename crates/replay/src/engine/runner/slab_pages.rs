//! Slabs that come and go while rows are replayed, for whoever wants to know them.

use slablab_kmem::{Backend, Gfp, SlabChange};
use slablab_trace::Event;

use super::{NO_EVENT, Runner};
use crate::metrics::slab_pages::SlabPages;

impl<B: Backend> Runner<'_, B> {
    /// Forgets the slabs from before the first row, unless vectors have yet to be made for them.
    pub(crate) fn begin_slab_pages(&mut self) {
        if self.slab_pages.is_some() && self.vectors.is_none() {
            self.machine.take_slab_changes(&mut Vec::new());
        }
    }

    /// Moves the slabs that came and went at a row to the end of `to`.
    pub(super) fn take_slab_changes(&mut self, to: &mut Vec<SlabChange>, event: &Event) {
        let before = to.len();
        self.machine.take_slab_changes(to);
        if let Some(log) = &mut self.slab_pages {
            log.note(&to[before..], event);
        }
    }

    /// Notes the slabs that came and went at a row.
    #[cold]
    pub(super) fn note_slabs(&mut self, event: &Event) {
        self.take_slab_changes(&mut Vec::new(), event);
    }

    /// Looks at the slabs that went with a free, or with time.
    #[inline]
    pub(super) fn slabs_of_free(&mut self, now_ns: u64, cpu: u16) {
        if self.vectors.is_some() {
            self.vectors_of_free(now_ns, cpu);
        } else if self.slab_pages.is_some() {
            self.note_slabs(&Event { time_ns: now_ns, cpu, gfp: Gfp::KERNEL.0, ..NO_EVENT });
        }
    }

    /// Returns the slabs that came and went; none where they are not wanted.
    pub(super) fn take_slab_pages(&mut self) -> SlabPages {
        let log = self.slab_pages.take().unwrap_or_default();
        log.finish(self.machine, self.plan.changes.arch(self.meta))
    }
}
