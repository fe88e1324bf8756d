//! One bucket: probes chained through their own links.
//!
//! Linux counterpart: `hlist_head` with `hlist_add_head_rcu`, `hlist_del_rcu` @ 6.1.

use std::sync::atomic::{AtomicPtr, Ordering};

use slablab_rcu::{Guard, drop_later};

use crate::Probe;

/// A probe in a chain. The link has two words, as Linux's `hlist_node` has.
#[derive(Debug)]
#[repr(C)]
struct Node {
    next: AtomicPtr<Node>,
    /// The previous node, or null for the first; only writers look at it.
    previous: AtomicPtr<Node>,
    probe: Probe,
}

/// Bytes that a chain adds to each probe.
pub(crate) const LINK_BYTES: usize = 16;
const _: () = assert!(size_of::<Node>() == size_of::<Probe>() + LINK_BYTES);

/// A chain. Writers are serialised by the table.
#[derive(Debug)]
pub(crate) struct Chain {
    first: AtomicPtr<Node>,
}

impl Chain {
    pub(crate) const fn new() -> Self {
        Self { first: AtomicPtr::new(std::ptr::null_mut()) }
    }

    #[inline]
    pub(crate) fn iter<'g>(&'g self, _guard: &'g Guard) -> impl Iterator<Item = &'g Probe> {
        let mut node = self.first.load(Ordering::Acquire);
        std::iter::from_fn(move || {
            // SAFETY: null, or a node that is not freed before the guard's section ends.
            let current = unsafe { node.as_ref() }?;
            node = current.next.load(Ordering::Acquire);
            Some(&current.probe)
        })
    }

    #[inline]
    pub(crate) fn find<'g>(&'g self, address: u64, guard: &'g Guard) -> Option<&'g Probe> {
        self.iter(guard).find(|probe| probe.address() == address)
    }

    /// Adds a probe in front.
    pub(crate) fn push(&self, probe: Probe) {
        let first = self.first.load(Ordering::Relaxed);
        let node = Node { next: AtomicPtr::new(first), previous: AtomicPtr::default(), probe };
        let node = Box::into_raw(Box::new(node));
        // SAFETY: null, or a node of this chain, which only a writer unlinks.
        if let Some(first) = unsafe { first.as_ref() } {
            first.previous.store(node, Ordering::Relaxed);
        }
        self.first.store(node, Ordering::Release);
    }

    /// Removes the probe at this address.
    pub(crate) fn remove(&self, address: u64) -> bool {
        let mut at = self.first.load(Ordering::Relaxed);
        // SAFETY: null, or a node of this chain, which only a writer unlinks.
        while let Some(node) = unsafe { at.as_ref() } {
            let next = node.next.load(Ordering::Relaxed);
            if node.probe.address() != address {
                at = next;
                continue;
            }
            let previous = node.previous.load(Ordering::Relaxed);
            // SAFETY: as above.
            let link = unsafe { previous.as_ref() }.map_or(&self.first, |previous| &previous.next);
            link.store(next, Ordering::Release);
            // SAFETY: as above.
            if let Some(next) = unsafe { next.as_ref() } {
                next.previous.store(previous, Ordering::Relaxed);
            }
            // SAFETY: it came from a box, and is unlinked now.
            drop_later(unsafe { Box::from_raw(at) });
            return true;
        }
        false
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        let mut at = *self.first.get_mut();
        while !at.is_null() {
            // SAFETY: it came from a box, and only this drop has the chain.
            let mut node = unsafe { Box::from_raw(at) };
            at = *node.next.get_mut();
        }
    }
}
