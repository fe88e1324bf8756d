//! A hash table that grows with its contents: open addressing, at most three quarters full.
//!
//! Linux counterpart: `fprobe_ip_table`, an rhltable (kernel/trace/fprobe.c, include/linux/rhashtable.h @ 6.18).
//!
//! # Differences from Linux
//! The hash is the same: mainline gives its table one multiplication by the golden ratio (`hash_ptr`) instead of
//! the `jhash` that rhashtable defaults to. It also grows above three quarters full. But rhashtable's buckets lead
//! to chains. A hit there goes from the table to the bucket to the object, takes the lock bit off the bucket,
//! compares through the object, and steps on where two addresses share a bucket. Before that it checks whether the
//! table is nested. Here the address stands in the slot. So the XArray's rival here is rather quicker than Linux's
//! table, and takes more memory.

use std::sync::Mutex;

use slablab_rcu::Guard;

use crate::raw::slots::Slots;
use crate::table::{lock, visit_in_order};
use crate::{Error, Probe, ProbeTable};

/// The resizing hash table.
#[derive(Debug)]
pub struct HashResizing {
    slots: Slots,
    writers: Mutex<()>,
}

impl ProbeTable for HashResizing {
    const NAME: &'static str = "hash, resizing";

    fn new() -> Self {
        Self { slots: Slots::new(), writers: Mutex::new(()) }
    }

    fn register(&self, probe: Probe) -> Result<(), Error> {
        let _held = lock(&self.writers);
        if self.slots.find(probe.address(), &slablab_rcu::pin()).is_some() {
            return Err(Error::Busy(probe.address()));
        }
        self.slots.insert(probe);
        Ok(())
    }

    fn unregister(&self, address: u64) -> bool {
        let _held = lock(&self.writers);
        self.slots.remove(address)
    }

    #[inline]
    fn lookup<'g>(&'g self, address: u64, guard: &'g Guard) -> Option<&'g Probe> {
        self.slots.find(address, guard)
    }

    fn for_each(&self, guard: &Guard, visit: &mut dyn FnMut(&Probe)) {
        visit_in_order(self.slots.all(guard), visit);
    }

    fn table_bytes(&self) -> usize {
        let _held = lock(&self.writers);
        self.slots.bytes()
    }
}
