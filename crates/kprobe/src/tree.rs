//! An XArray from address to probe. Its order answers a question about a range with one walk.

use slablab_rcu::Guard;
use slablab_xarray::XArray;

use crate::{Error, Probe, ProbeTable};

/// The XArray table.
#[derive(Debug, Default)]
pub struct Tree {
    pub(crate) probes: XArray<Box<Probe>>,
}

impl ProbeTable for Tree {
    const NAME: &'static str = "XArray";

    fn new() -> Self {
        Self::default()
    }

    fn register(&self, probe: Probe) -> Result<(), Error> {
        let address = probe.address();
        self.probes.insert(address, Box::new(probe)).map_err(|rejected| match rejected.error {
            slablab_xarray::Error::Busy => Error::Busy(address),
            _ => Error::NoMemory(address),
        })
    }

    fn unregister(&self, address: u64) -> bool {
        self.probes.remove(address).is_some()
    }

    #[inline]
    fn lookup<'g>(&'g self, address: u64, guard: &'g Guard) -> Option<&'g Probe> {
        self.probes.load(address, guard)
    }

    fn lookup_range<'g>(&'g self, first: u64, last: u64, guard: &'g Guard) -> Option<&'g Probe> {
        self.probes.range(first..=last, guard).next().map(|(_, probe)| probe)
    }

    fn for_each(&self, guard: &Guard, visit: &mut dyn FnMut(&Probe)) {
        self.probes.iter(guard).for_each(|(_, probe)| visit(probe));
    }

    fn table_bytes(&self) -> usize {
        self.probes.memory_bytes()
    }
}
