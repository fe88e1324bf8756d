//! A limit of the machine's slab memory that ends a recording.
//!
//! # How it works
//! A thread reads `/proc/meminfo` 20 times a second, and ends the recording when one of the limits is exceeded. What the
//! kernel gives back under pressure counts for [`SlabPart::All`] alone, as it may fill memory without any leak.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::machine;

/// Between two looks at the machine.
const NAP: Duration = Duration::from_millis(50);

/// Which of the machine's slabs count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SlabPart {
    /// All: `Slab:` of `/proc/meminfo`
    All,
    /// Those that the kernel does not give back under pressure: `SUnreclaim:`
    Unreclaimable,
}

/// How much of the machine's memory slabs may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlabLimit {
    /// Which slabs count
    pub part: SlabPart,
    /// They may take as many bytes
    pub bytes_max: u64,
}

/// What exceeded a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlabReached {
    /// Which slabs
    pub part: SlabPart,
    /// What they took
    pub bytes: u64,
}

impl SlabPart {
    /// Returns the bytes of this machine's memory, 0 when that is not known.
    #[must_use]
    pub fn memory_bytes() -> u64 {
        machine::meminfo_bytes("MemTotal:")
    }

    /// Returns the bytes that these slabs take on this machine now, 0 when that is not known.
    #[must_use]
    pub fn bytes_now(self) -> u64 {
        machine::meminfo_bytes(match self {
            Self::All => "Slab:",
            Self::Unreclaimable => "SUnreclaim:",
        })
    }
}

impl SlabLimit {
    /// Returns what exceeds the limit now.
    fn reached(self) -> Option<SlabReached> {
        let bytes = self.part.bytes_now();
        (bytes > self.bytes_max).then_some(SlabReached { part: self.part, bytes })
    }
}

/// Sets `end` when one of `limits` is exceeded, and returns which; returns nothing when `stop` comes first.
pub(super) fn watch(
    limits: &[SlabLimit],
    stop: &AtomicBool,
    end: &AtomicBool,
) -> Option<SlabReached> {
    while !limits.is_empty() && !stop.load(Ordering::Acquire) {
        if let Some(reached) = limits.iter().find_map(|limit| limit.reached()) {
            end.store(true, Ordering::Release);
            return Some(reached);
        }
        std::thread::sleep(NAP);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_that_is_exceeded_is_told_and_ends() {
        let (stop, end) = (AtomicBool::new(false), AtomicBool::new(false));
        let never = SlabLimit { part: SlabPart::All, bytes_max: u64::MAX };
        let at_once = SlabLimit { part: SlabPart::Unreclaimable, bytes_max: 0 };
        let reached = watch(&[never, at_once], &stop, &end).unwrap();
        assert_eq!(reached.part, SlabPart::Unreclaimable);
        assert!(reached.bytes > 0 && end.load(Ordering::Acquire));
        assert!(reached.bytes <= SlabPart::All.bytes_now(), "a part of all slabs");
        stop.store(true, Ordering::Release);
        assert_eq!(watch(&[never], &stop, &end), None);
        assert_eq!(watch(&[], &AtomicBool::new(false), &end), None);
    }
}
