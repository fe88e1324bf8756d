//! Leaves out the objects of the recorder's own threads: their allocations, and the frees of these
//! by any thread.
//!
//! # How it works
//! The addresses of their objects are kept, as no free tells who allocated. What they free of others
//! is a free like any other.
//!
//! # Invariants
//! Every free that is given is of an object that was given, or that is older than the recording; allocations
//! that are given are those that [`Unfreed`](crate::import::Unfreed) numbers.

use rustc_hash::FxHashSet;

use crate::source::{Facts, Source};
use crate::{Error, RawEvent};

/// The events of a source that marks the recorder's own, without its objects.
#[derive(Debug)]
pub(super) struct WithoutOwn<S> {
    pub(super) source: S,
    /// What the recorder's process is numbered as in the trace
    pid: u32,
    own: FxHashSet<u64>,
}

impl<S: Source> WithoutOwn<S> {
    pub(super) fn new(source: S, pid: u32) -> Self {
        Self { source, pid, own: FxHashSet::default() }
    }
}

/// Returns whether an event is of an object of somebody else's.
fn keeps(own: &mut FxHashSet<u64>, event: &RawEvent) -> bool {
    // Pages of the recorder are pages that the machine lacks, and stay.
    if event.page.is_some() {
        return true;
    }
    let is_own = event.pid == RawEvent::RECORDER_PID;
    if is_own && event.kind.is_alloc() {
        if event.has_object() {
            own.insert(event.ptr);
        }
        return false;
    }
    // Where it was freed unseen, its address may be allocated again.
    !own.remove(&event.ptr) || event.kind.is_alloc()
}

impl<S: Source> Source for WithoutOwn<S> {
    fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
        let read = to.len();
        let goes_on = self.source.read(to)?;
        let is_ours = |event: &RawEvent| event.pid == RawEvent::RECORDER_PID;
        // Most parts have nothing of ours, and are not moved. All are looked at, so that the memory is waited for once.
        let may_be_ours = |event: &&RawEvent| self.own.contains(&event.ptr) | is_ours(event);
        if to[read..].iter().filter(may_be_ours).count() == 0 {
            return Ok(goes_on);
        }
        let dropped = to.extract_if(read.., |event| !keeps(&mut self.own, event));
        dropped.for_each(drop);
        for event in to[read..].iter_mut().filter(|event| is_ours(event)) {
            event.pid = self.pid;
        }
        Ok(goes_on)
    }

    fn facts(&self) -> &Facts {
        self.source.facts()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn objects_of_the_recorder_are_left_out_whoever_frees_them() {
        let mut own = FxHashSet::default();
        let recorder = RawEvent::RECORDER_PID;
        let mut keeps = |pid, kind, ptr| {
            let event = RawEvent { pid, kind, ptr, bytes_req: 8, ..RawEvent::EMPTY };
            super::keeps(&mut own, &event)
        };
        assert!(!keeps(recorder, Kind::Kmalloc, 0x1000));
        assert!(!keeps(recorder, Kind::Kmalloc, 0x2000));
        // Freed by others, and with its address allocated again.
        assert!(!keeps(1, Kind::Kfree, 0x1000));
        assert!(keeps(1, Kind::Kfree, 0x1000));
        assert!(keeps(1, Kind::Kmalloc, 0x2000));
        assert!(keeps(1, Kind::Kfree, 0x2000));
        // An object of somebody else's, freed by the recorder.
        assert!(keeps(1, Kind::Kmalloc, 0x3000));
        assert!(keeps(recorder, Kind::Kfree, 0x3000));
    }
}
