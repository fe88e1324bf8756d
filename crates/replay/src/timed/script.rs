//! The trace as threads execute it: each event with its turn, spread over the threads by CPU.

use slablab_trace::{Event, Kind, Meta, NONE, TraceReader};

use crate::change::rewrite::Rewrite;
use crate::engine::machine;
use crate::engine::sheaf_sites::SheafSites;
use crate::error::Error;
use crate::plan::ReplayPlan;
use crate::slots::Slots;

/// An event as a thread executes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) slot: u32,
    pub(crate) turn: u32,
    pub(crate) bytes_req: u32,
    pub(crate) gfp: u32,
    pub(crate) site: u32,
    /// The trace's cache; [`NONE`] for kmalloc
    pub(crate) cache: u32,
    pub(crate) cpu: u16,
    pub(crate) is_alloc: bool,
}

/// The trace, spread over threads.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) parts: Vec<Vec<Step>>,
    /// Slots that the steps use
    pub(crate) slots: usize,
    /// The first allocation from each cache
    pub(crate) first: Vec<Option<Event>>,
}

/// The state of a slot of the trace.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    /// Its number among the slots used, from 1; 0 before its first allocation
    number: u32,
    /// Steps so far: odd while it holds an object
    turn: u32,
    cache: u32,
}

impl Script {
    /// Reads the trace and spreads it over `threads`.
    pub(crate) fn read(
        reader: &TraceReader,
        plan: &ReplayPlan,
        meta: &Meta,
        threads: u32,
    ) -> Result<Self, Error> {
        let rewrite = Rewrite::new(&plan.changes, meta);
        let own = SheafSites::of(meta);
        let parts = vec![Vec::new(); threads as usize];
        let mut script = Self { parts, slots: 0, first: vec![None; meta.caches.len()] };
        let mut slots = Slots::<Slot>::new(meta.events);
        let mut rows = 0;
        for batch in reader.batches_without_pid() {
            let batch = batch?;
            machine::check_cpus(meta, &batch, rows)?;
            rows += batch.len() as u64;
            for mut event in batch.events().filter(|event| event.object != NONE) {
                if !event.kind.is_alloc() {
                    // A free of an object whose allocation was not seen has no turn.
                    let slot = slots.get_mut(event.object as usize);
                    if let Some(slot) = slot.filter(|slot| slot.turn % 2 == 1) {
                        script.push(&event, slot);
                    }
                    continue;
                }
                if own.has(&event) {
                    continue;
                }
                let slot = slots.entry(event.object as usize);
                if slot.number == 0 {
                    script.slots += 1;
                    slot.number = script.slots as u32;
                }
                if slot.turn % 2 == 1 {
                    // Its free is not among the rows, because it was taken out of the trace.
                    script.push(&Event { kind: Kind::ImplicitFree, ..event }, slot);
                }
                rewrite.apply(&mut event);
                slot.cache = if event.kind == Kind::Kmalloc { NONE } else { event.cache };
                if let Some(first) = script.first.get_mut(slot.cache as usize) {
                    first.get_or_insert(event);
                }
                script.push(&event, slot);
            }
        }
        Ok(script)
    }

    fn push(&mut self, event: &Event, slot: &mut Slot) {
        let threads = self.parts.len();
        self.parts[usize::from(event.cpu) % threads].push(Step {
            slot: slot.number - 1,
            turn: slot.turn,
            bytes_req: u32::try_from(event.bytes_req).unwrap_or(u32::MAX),
            gfp: event.gfp,
            site: event.site,
            cache: slot.cache,
            cpu: event.cpu,
            is_alloc: event.kind.is_alloc(),
        });
        slot.turn = slot.turn.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use slablab_trace::TraceWriter;

    use crate::engine::runner::NO_EVENT;

    use super::*;

    #[test]
    fn threads_do_not_allocate_the_recorded_allocators_sheaves() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let mut writer = TraceWriter::create(&path).unwrap();
        let sites = ["do_fork+0x1", "alloc_empty_sheaf+0x8"]
            .map(|name| writer.site(name, name.len() as u64));
        for (object, kind) in
            [(0, Kind::Kmalloc), (1, Kind::Kmalloc), (0, Kind::Kfree), (1, Kind::Kfree)]
        {
            let (bytes, site) = match kind.is_alloc() {
                true => (512, sites[object as usize]),
                false => (0, NONE),
            };
            let sizes = Event { bytes_req: bytes, bytes_alloc: bytes, ..NO_EVENT };
            writer.push(&Event { kind, object, site, ..sizes }).unwrap();
        }
        let mut meta = Meta { cpus: 1, nodes: 1, ..Meta::default() };
        meta.samples.times_ns = vec![0, 1];
        writer.finish(meta).unwrap();
        let reader = TraceReader::open(&path).unwrap();
        let script = Script::read(&reader, &ReplayPlan::default(), reader.meta(), 1).unwrap();
        assert_eq!((script.slots, script.parts[0].len()), (1, 2));
    }
}
