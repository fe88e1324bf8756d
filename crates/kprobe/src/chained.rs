//! A fixed number of buckets, each a chain through the probes.

use std::sync::Mutex;

use slablab_rcu::Guard;

use crate::raw::chain::Chain;
use crate::table::{hash, lock, visit_in_order};
use crate::{Error, Probe, ProbeTable};

/// A hash table with `2^BITS` buckets.
#[derive(Debug)]
pub struct Chained<const BITS: u32> {
    buckets: Box<[Chain]>,
    writers: Mutex<usize>,
}

/// The table of Linux 2.6 to 7.
pub type Hash64 = Chained<6>;
/// Eight times as many buckets, which fill one page.
pub type Hash512 = Chained<9>;

impl<const BITS: u32> Chained<BITS> {
    #[inline]
    fn bucket(&self, address: u64) -> &Chain {
        &self.buckets[(hash(address) >> (u64::BITS - BITS)) as usize]
    }
}

impl<const BITS: u32> ProbeTable for Chained<BITS> {
    const NAME: &'static str = match BITS {
        6 => "hash, 64 buckets",
        9 => "hash, 512 buckets",
        _ => "hash, fixed buckets",
    };

    fn new() -> Self {
        Self { buckets: (0..1 << BITS).map(|_| Chain::new()).collect(), writers: Mutex::new(0) }
    }

    fn register(&self, probe: Probe) -> Result<(), Error> {
        let mut count = lock(&self.writers);
        let bucket = self.bucket(probe.address());
        if bucket.find(probe.address(), &slablab_rcu::pin()).is_some() {
            return Err(Error::Busy(probe.address()));
        }
        bucket.push(probe);
        *count += 1;
        Ok(())
    }

    fn unregister(&self, address: u64) -> bool {
        let mut count = lock(&self.writers);
        let removed = self.bucket(address).remove(address);
        *count -= usize::from(removed);
        removed
    }

    #[inline]
    fn lookup<'g>(&'g self, address: u64, guard: &'g Guard) -> Option<&'g Probe> {
        self.bucket(address).find(address, guard)
    }

    fn for_each(&self, guard: &Guard, visit: &mut dyn FnMut(&Probe)) {
        visit_in_order(self.buckets.iter().flat_map(|chain| chain.iter(guard)).collect(), visit);
    }

    fn len(&self) -> usize {
        *lock(&self.writers)
    }

    fn table_bytes(&self) -> usize {
        size_of_val(&*self.buckets) + self.len() * crate::raw::chain::LINK_BYTES
    }
}
