//! Ends objects that were freed unseen as evenly as others come, so that the numbers of samples do not
//! take effect late.
//!
//! # How it works
//! At each sample it is known how many objects the next one will lack ([`Flow`](super::flow::Flow)); each
//! allocation until then is outweighed by its share of them. An object whose address is allocated again is one of those
//! that lack.

/// The pace of one cache.
#[derive(Debug, Default)]
pub(super) struct Pace {
    frees_per_alloc: f64,
    /// Frees that are due: below 0 after too many.
    due: f64,
}

impl Pace {
    /// Begins an interval in which `frees` objects are freed unseen, and `allocs` allocated. If there are more frees than
    /// allocations, the rest is left to the sample.
    pub(super) fn begin(&mut self, frees: u64, allocs: u64) {
        let frees_per_alloc = if allocs == 0 { 0.0 } else { frees as f64 / allocs as f64 };
        *self = Pace { frees_per_alloc: frees_per_alloc.min(1.0), due: 0.0 };
    }

    /// Counts an allocation; returns whether an object is likely to have been freed unseen by now.
    pub(super) fn alloc(&mut self) -> bool {
        self.due += self.frees_per_alloc;
        self.due >= 1.0
    }

    /// Counts an object that was freed unseen.
    pub(super) fn end(&mut self) {
        self.due -= 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_end_as_evenly_as_others_come() {
        let mut pace = Pace::default();
        pace.begin(2, 8);
        let mut ended = |reused: bool| {
            let ends = pace.alloc();
            (0..usize::from(ends) + usize::from(reused)).for_each(|_| pace.end());
            ends
        };
        let plain = [false; 8].map(&mut ended);
        assert_eq!(plain, [false, false, false, true, false, false, false, true]);
        // One that is known to be free by then is one of the two.
        let known = [true, false, false, false, false, false, false, false].map(&mut ended);
        assert_eq!(known.iter().filter(|ends| **ends).count(), 1);
        pace.begin(9, 3);
        assert_eq!([(); 3].map(|()| pace.alloc()), [true; 3]);
        pace.begin(9, 0);
        assert!(!pace.alloc());
    }
}
