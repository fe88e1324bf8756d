//! Leaves out the objects of the recorder's own threads: their allocations, and the frees of these
//! by any thread.
//!
//! # How it works
//! The addresses of their objects are kept, as no free tells who allocated. What they free of others
//! is a free like any other. They are tens of thousands where the files of a recording grow, so that each look at them waits
//! for memory: a small table of bits beside them says of nearly all other addresses that they are not among them.
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
    own: Own,
}

/// The live objects of the recorder's own threads, by address.
#[derive(Debug)]
struct Own {
    live: FxHashSet<u64>,
    /// A bit for each address, which others share: it is set where the address was among them
    bits: Vec<u64>,
    /// How far a hash is shifted to be the number of a bit
    shift: u32,
    /// How many addresses have set their bits
    set: usize,
}

/// Bits for each address, at least: of the others one in as many is looked for in vain.
const BITS_EACH: usize = 16;
const BITS_MIN: usize = 1 << 12;

impl<S: Source> WithoutOwn<S> {
    pub(super) fn new(source: S, pid: u32) -> Self {
        Self { source, pid, own: Own::new() }
    }
}

impl Own {
    fn new() -> Own {
        let mut own = Own { live: FxHashSet::default(), bits: Vec::new(), shift: 0, set: 0 };
        own.set_all();
        own
    }

    #[inline]
    fn bit(&self, address: u64) -> (usize, u64) {
        let number = address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift;
        ((number / 64) as usize, 1 << (number % 64))
    }

    #[inline]
    fn contains(&self, address: u64) -> bool {
        let (word, bit) = self.bit(address);
        self.bits[word] & bit != 0 && self.live.contains(&address)
    }

    fn insert(&mut self, address: u64) {
        self.live.insert(address);
        let (word, bit) = self.bit(address);
        self.bits[word] |= bit;
        self.set += 1;
        if self.set * BITS_EACH > self.bits.len() * 64 {
            self.set_all();
        }
    }

    /// Sets the bits of those that live, of twice as many as are needed.
    fn set_all(&mut self) {
        let bits = (self.live.len() * BITS_EACH * 2).next_power_of_two().max(BITS_MIN);
        self.bits = vec![0; bits / 64];
        (self.shift, self.set) = (64 - bits.ilog2(), self.live.len());
        for address in &self.live {
            let (word, bit) = self.bit(*address);
            self.bits[word] |= bit;
        }
    }

    /// Returns whether an event is of an object of somebody else's.
    fn keeps(&mut self, event: &RawEvent) -> bool {
        // Pages of the recorder are pages that the machine lacks, and stay.
        if event.page.is_some() {
            return true;
        }
        let is_own = event.pid == RawEvent::RECORDER_PID;
        if is_own && event.kind.is_alloc() {
            if event.has_object() {
                self.insert(event.ptr);
            }
            return false;
        }
        // Where it was freed unseen, its address may be allocated again.
        !self.contains(event.ptr) || !self.live.remove(&event.ptr) || event.kind.is_alloc()
    }
}

impl<S: Source> Source for WithoutOwn<S> {
    fn read(&mut self, to: &mut Vec<RawEvent>) -> Result<bool, Error> {
        let read = to.len();
        let goes_on = self.source.read(to)?;
        let is_ours = |event: &RawEvent| event.pid == RawEvent::RECORDER_PID;
        // Most parts have nothing of ours, and are not moved.
        let own = &mut self.own;
        let may_be_ours = |event: &RawEvent| own.contains(event.ptr) || is_ours(event);
        let Some(first) = to[read..].iter().position(may_be_ours) else { return Ok(goes_on) };
        let dropped = to.extract_if(read + first.., |event| !own.keeps(event));
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
        let mut own = Own::new();
        let recorder = RawEvent::RECORDER_PID;
        let mut keeps = |pid, kind, ptr| {
            let event = RawEvent { pid, kind, ptr, bytes_req: 8, ..RawEvent::EMPTY };
            own.keeps(&event)
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
    #[test]
    fn however_many_there_are_none_is_forgotten() {
        let mut own = Own::new();
        let event = |pid, kind, ptr| RawEvent { pid, kind, ptr, bytes_req: 8, ..RawEvent::EMPTY };
        let ptr = |number: u64| 0x8000_0000 + 192 * number;
        for number in 0..5_000 {
            assert!(!own.keeps(&event(RawEvent::RECORDER_PID, Kind::Kmalloc, ptr(number))));
            // Every other one goes at once, and leaves its bit.
            assert!(number % 2 == 0 || !own.keeps(&event(1, Kind::Kfree, ptr(number))));
        }
        let bits = own.bits.len() * 64;
        assert!(bits >= own.set * BITS_EACH && bits <= 5_000 * BITS_EACH * 4, "{bits} bits");
        let stays = |number: &u64| own.keeps(&event(1, Kind::Kfree, ptr(*number)));
        assert_eq!((0..15_000).filter(stays).count(), 12_500);
    }
}
