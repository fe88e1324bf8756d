//! The vectors of accounting and allocation profiling: objects that the replay allocates beside its slabs, and frees with them.
//!
//! # How it works
//! After each operation the machine says which slabs came and went, and [`VectorState`] which of them need a vector. To allocate
//! one may make a slab, which is looked at likewise, until nothing changes any more.

use std::ops::ControlFlow;

use slablab_kmem::{Backend, CpuId, Gfp, NodeId, ObjPtr, Site, SlabChange};
use slablab_linux::vector_gfp;
use slablab_trace::{Event, NONE};

use super::{NO_EVENT, Runner};
use crate::engine::vectors::{VectorState, Wanted};

impl<B: Backend> Runner<'_, B> {
    /// Gives the slab of a new object its vector, and all slabs that came with it.
    #[cold]
    pub(super) fn vectors_of_alloc(&mut self, event: &Event, object: ObjPtr) {
        self.with_vectors(|runner, state| {
            runner.settle(state, event, Some(event));
            if let Some(wanted) = state.for_object(runner.machine, object, event) {
                runner.give_vector(state, wanted, event);
            }
            while runner.vectors_of_vectors(state, event).is_continue() {}
        });
    }

    /// Frees the vectors of slabs that went with a free, or with time.
    #[cold]
    pub(super) fn vectors_of_free(&mut self, now_ns: u64, cpu: u16) {
        let event = Event { time_ns: now_ns, cpu, gfp: Gfp::KERNEL.0, ..NO_EVENT };
        self.with_vectors(|runner, state| {
            runner.settle(state, &event, None);
            while runner.vectors_of_vectors(state, &event).is_continue() {}
        });
    }

    /// Enters the slabs of the objects that are older than the trace.
    pub(super) fn vectors_of_older(&mut self) {
        let now = Event { time_ns: self.meta.time_first_ns, gfp: Gfp::KERNEL.0, ..NO_EVENT };
        self.with_vectors(|runner, state| {
            let mut changes = Vec::new();
            runner.machine.take_slab_changes(&mut changes);
            for change in changes {
                match change {
                    SlabChange::Made(slab, cache) => state.enter_older(slab, cache),
                    SlabChange::Gone(slab) => _ = state.leave(slab, now.time_ns),
                }
            }
            if !state.is_new_to_older_slabs() {
                return;
            }
            for (slab, cache) in state.older_slabs() {
                let wanted = state.enter(runner.machine, slab, cache, None);
                let later = || state.for_slab(runner.machine, slab, cache, false, None);
                if let Some(wanted) = wanted.or_else(later) {
                    runner.give_vector(state, wanted, &now);
                }
                while runner.vectors_of_vectors(state, &now).is_continue() {}
            }
        });
    }

    /// Does something with the vectors, and enters in the totals what it changed.
    fn with_vectors(&mut self, work: impl FnOnce(&mut Self, &mut VectorState<'_>)) {
        let Some(mut state) = self.vectors.take() else { return };
        let (requested, bytes, given) = (state.requested, state.bytes, state.given);
        work(self, &mut state);
        self.timeline.requested = self.timeline.requested + state.requested - requested;
        if let Some(site) = state.site().filter(|_| state.bytes != bytes || state.given != given) {
            let place = self.sites.place(site);
            let account = self.sites.at(place);
            account.waste = account.waste + (state.bytes - state.requested) - (bytes - requested);
            account.waste_peak = account.waste_peak.max(account.waste);
            account.bytes_alloc += state.given - given;
        }
        self.vectors = Some(state);
    }

    /// Looks at the slabs that came and went, until there are none.
    fn settle(&mut self, state: &mut VectorState<'_>, event: &Event, first: Option<&Event>) {
        let mut changes = std::mem::take(&mut state.changes);
        self.take_slab_changes(&mut changes, event);
        while !changes.is_empty() {
            for change in changes.drain(..) {
                match change {
                    SlabChange::Made(slab, cache) => {
                        if let Some(wanted) = state.enter(self.machine, slab, cache, first) {
                            self.give_vector(state, wanted, event);
                        }
                    }
                    SlabChange::Gone(slab) => {
                        if let Some(object) = state.leave(slab, event.time_ns) {
                            self.cpus.cpu(CpuId(u32::from(event.cpu))).kfree(object, Site(NONE));
                        }
                    }
                }
            }
            self.take_slab_changes(&mut changes, event);
        }
        state.changes = changes;
    }

    /// Gives the slab of one vector its own vector; ends when there is none left to look at.
    fn vectors_of_vectors(
        &mut self,
        state: &mut VectorState<'_>,
        event: &Event,
    ) -> ControlFlow<()> {
        self.settle(state, event, None);
        let Some(object) = state.pending.pop() else { return ControlFlow::Break(()) };
        let plain = Event { gfp: vector_gfp(Gfp(event.gfp)).0, ..NO_EVENT };
        if let Some(wanted) = state.for_object(self.machine, object, &plain) {
            self.give_vector(state, wanted, event);
        }
        ControlFlow::Continue(())
    }

    /// Allocates a vector and gives it to its slab. Without memory the slab goes without, as in Linux.
    fn give_vector(&mut self, state: &mut VectorState<'_>, wanted: Wanted, event: &Event) {
        let live_before = self.machine.gauges().live_bytes;
        let (gfp, site) = (vector_gfp(Gfp(event.gfp)), Site(NONE));
        let node = Some(self.machine.node_of(wanted.slab)).filter(|_| self.nodes > 1);
        let cpu = self.cpus.cpu(CpuId(u32::from(event.cpu)));
        let object = match (wanted.from, node) {
            (Some(cache), None) => cpu.alloc(cache, gfp, site),
            (Some(cache), Some(node)) => cpu.alloc_node(cache, gfp, NodeId(node.0), site),
            (None, None) => cpu.kmalloc(wanted.bytes.into(), gfp, site),
            (None, Some(node)) => cpu.kmalloc_node(wanted.bytes.into(), gfp, node, site),
        };
        let Some(object) = object else { return };
        let bytes = self.machine.gauges().live_bytes - live_before;
        if !state.give(self.machine, wanted, object, bytes, event.time_ns) {
            return self.cpus.cpu(CpuId(u32::from(event.cpu))).kfree(object, site);
        }
        if wanted.is_profiled {
            state.pending.push(object);
        }
    }
}
