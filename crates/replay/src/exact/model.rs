//! A compact trace on the simulated machine.

use std::collections::BTreeMap;

use slablab_kmem::{
    Backend, BackendKind, CacheId, CpuId, Gfp, Machine, Merging, ObjPtr, Site, Tunables,
    WithBackend,
};

use super::compact::{CompactTrace, VISITS};
use crate::error::Error;

/// A cache at a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheMoment {
    /// Its slabs
    pub slabs: u64,
    /// Bytes of these
    pub bytes: u64,
}

/// A machine at a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MachineMoment {
    /// The caches of the compact trace, in its order; those that this allocator does not keep apart have nothing
    pub caches: Vec<CacheMoment>,
    /// Bytes of all slabs, and of blocks that are too large for slabs
    pub held_bytes: u64,
}

impl MachineMoment {
    /// Returns the bytes in slabs of the trace's caches; where caches share pages, all bytes held.
    #[must_use]
    pub fn slab_bytes(&self) -> u64 {
        match self.caches.is_empty() {
            true => self.held_bytes,
            false => self.caches.iter().map(|cache| cache.bytes).sum(),
        }
    }
}

/// The result of a compact trace on a machine, real or simulated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replayed {
    /// The machine at each moment
    pub moments: Vec<MachineMoment>,
    /// How often each path was taken, summed over the trace's caches; empty where paths are not
    /// counted
    pub paths: BTreeMap<String, u64>,
}

impl CompactTrace {
    /// Replays it under an allocator with these tunables; examines it at `moments`, which are rising numbers of events.
    ///
    /// # Errors
    ///
    /// If the machine cannot be built.
    pub fn model(
        &self,
        allocator: BackendKind,
        memory_bytes: u64,
        tunables: &Tunables,
        moments: &[usize],
    ) -> Result<Replayed, Error> {
        allocator.dispatch(Work { trace: self, memory_bytes, tunables, moments })
    }
}

struct Work<'a> {
    trace: &'a CompactTrace,
    memory_bytes: u64,
    tunables: &'a Tunables,
    moments: &'a [usize],
}

impl WithBackend for Work<'_> {
    type Output = Result<Replayed, Error>;

    fn run<B: Backend>(self) -> Self::Output {
        let trace = self.trace;
        let machine = Machine::<B>::builder()
            .cpus(trace.cpus)
            .memory_bytes(self.memory_bytes)
            .merging(Merging::Off)
            .tunables(self.tunables.clone())
            .caches_max(trace.caches.len() as u32 + 512)
            .build()?;
        let caches: Vec<_> = trace
            .caches
            .iter()
            .map(|cache| {
                let by_kmalloc =
                    cache.is_large() || (cache.is_kmalloc() && !B::KIND.has_kmalloc_caches());
                // A cache that the machine refuses has no id; its objects come from kmalloc.
                if by_kmalloc { None } else { machine.cache_create(&cache.args()).ok() }
            })
            .collect();
        let cpus = machine.cpus()?;
        let mut objects: Vec<Option<ObjPtr>> = vec![None; trace.objects as usize];
        let mut replayed = Replayed::default();
        let mut done = 0;
        let boot_bytes = machine.gauges().held_bytes();
        for &moment in self.moments {
            for event in &trace.events[done..moment] {
                let cpu = cpus.cpu(CpuId(u32::from(event.cpu)));
                if event.cache == VISITS {
                    cpu.tick(event.time_ns);
                    continue;
                }
                let object = &mut objects[event.object as usize];
                match (event.is_alloc, caches[usize::from(event.cache)]) {
                    (true, Some(cache)) => *object = cpu.alloc(cache, Gfp::KERNEL, Site(0)),
                    (true, None) => {
                        *object = cpu.kmalloc(u64::from(event.bytes), Gfp::KERNEL, Site(0));
                    }
                    (false, cache) => match (object.take(), cache) {
                        (Some(object), Some(cache)) => cpu.free(cache, object, Site(0)),
                        (Some(object), None) => cpu.kfree(object, Site(0)),
                        (None, _) => {}
                    },
                }
            }
            done = moment;
            // This is how the module settles: objects that wait for a grace period are given back.
            cpus.cpu(CpuId(0)).rcu_barrier();
            replayed.moments.push(MachineMoment {
                caches: caches.iter().map(|cache| look(&machine, *cache)).collect(),
                held_bytes: machine.gauges().held_bytes() - boot_bytes,
            });
        }
        for stats in caches.iter().flatten().filter_map(|cache| machine.cache_stats(*cache)) {
            for (path, count) in stats.paths.iter() {
                *replayed.paths.entry(path.to_owned()).or_default() += count;
            }
        }
        Ok(replayed)
    }
}

fn look<B: Backend>(machine: &Machine<B>, cache: Option<CacheId>) -> CacheMoment {
    let stats = cache.and_then(|cache| machine.cache_stats(cache));
    stats.map_or_else(CacheMoment::default, |stats| CacheMoment {
        slabs: stats.slabs,
        bytes: stats.slab_bytes,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use slablab_trace::TraceReader;

    use super::*;
    use crate::{ReplayPlan, replay};

    /// Where no cache has pages of its own, the compact trace leaves out nothing that the allocator reads.
    #[test]
    fn a_compact_trace_holds_what_the_trace_does() {
        let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces");
        for name in ["hackbench", "build"] {
            let reader = TraceReader::open(traces.join(format!("{name}.parquet"))).unwrap();
            let compact = CompactTrace::read(&reader).unwrap();
            let moments = compact.moments(3);
            for kind in BackendKind::ALL.iter().copied().filter(|kind| !kind.has_kmalloc_caches()) {
                let plan = ReplayPlan { allocators: vec![kind], ..ReplayPlan::default() };
                let whole = replay(&reader, &plan, &mut |_| ()).unwrap();
                let model = compact
                    .model(
                        kind,
                        plan.memory_bytes_for(reader.meta()),
                        &Tunables::default(),
                        &moments,
                    )
                    .unwrap();
                let end = model.moments.last().unwrap().held_bytes;
                assert_eq!(end, whole.allocators[0].held_bytes.end, "{name}, {kind}");
            }
        }
    }
}
