//! How far a file of pages has come while a recording is made, for who reads it meanwhile.
//!
//! # How it works
//! Who writes the file says how many bytes of it are whole blocks, and who empties the ring buffer says up to which time all
//! of its events are in the file. A reader ([`Growing`]) sees whole blocks only, so that none seems to be damaged.
//!
//! # Invariants
//! Both numbers only rise. The time is said after the blocks: who reads it first sees at least these blocks.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::Waiting;

/// What is known of a file that is written.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    whole_bytes: AtomicU64,
    complete_ns: AtomicU64,
    has_ended: AtomicBool,
    /// Of the whole file, what memory cannot keep; known when it has ended
    beyond_memory_bytes: AtomicU64,
}

impl Growth {
    /// Says how many bytes of whole blocks there are.
    pub(super) fn reach(&self, whole_bytes: u64) {
        self.whole_bytes.store(whole_bytes, Ordering::Release);
    }

    /// Says that all events before a time are in the file.
    pub(crate) fn complete(&self, until_ns: u64) {
        self.complete_ns.fetch_max(until_ns, Ordering::Release);
    }

    /// Says that nothing more comes, and how much of the file memory cannot keep ([`beyond_memory`](super::beyond_memory)).
    pub(crate) fn end(&self, beyond_memory_bytes: u64) {
        self.beyond_memory_bytes.store(beyond_memory_bytes, Ordering::Release);
        self.has_ended.store(true, Ordering::Release);
    }
}

/// The whole blocks of a file that grows.
#[derive(Debug)]
pub(crate) struct Growing {
    file: Waiting,
    growth: Arc<Growth>,
}

impl Growing {
    /// Reads a file from its beginning.
    pub(crate) fn new(file: File, growth: Arc<Growth>) -> Growing {
        Growing { file: Waiting::new(file), growth }
    }

    /// Returns how many bytes can be read now.
    fn left(&self) -> u64 {
        self.growth.whole_bytes.load(Ordering::Acquire).saturating_sub(self.file.read_bytes())
    }

    /// Returns the time before which all events were read, where all was read and more may come.
    pub(super) fn waits_ns(&self) -> Option<u64> {
        let complete_ns = self.growth.complete_ns.load(Ordering::Acquire);
        let has_ended = self.growth.has_ended.load(Ordering::Acquire);
        (!has_ended && self.left() == 0).then_some(complete_ns)
    }
}

impl Read for Growing {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let bytes = self.left().min(to.len() as u64) as usize;
        if self.growth.has_ended.load(Ordering::Acquire) {
            self.file.drop_first(self.growth.beyond_memory_bytes.load(Ordering::Acquire));
        }
        self.file.read(&mut to[..bytes])
    }
}
