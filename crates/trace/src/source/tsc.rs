//! The clock of a processor, which some recordings have instead of nanoseconds.

/// How a processor's clock becomes nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tsc {
    pub(crate) mult: u32,
    pub(crate) shift: u32,
    pub(crate) offset_ns: u64,
}

impl Tsc {
    pub(super) fn ns(self, count: u64) -> u64 {
        let ns = (u128::from(count) * u128::from(self.mult)) >> self.shift;
        (ns as u64).wrapping_add(self.offset_ns)
    }
}
