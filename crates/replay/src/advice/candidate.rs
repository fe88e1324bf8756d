//! A change that may be worth trying, and what it is about.

use crate::advice::result::Change;
use crate::advice::survey::ClassSet;
use crate::change::changes::Changes;
use crate::metrics::result::Site;

/// A page is the least that a cache can save.
pub(crate) const WORTH_BYTES_MIN: u64 = 4096;

/// Something to try.
#[derive(Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) change: Change,
    pub(crate) changes: Changes,
    pub(crate) classes: ClassSet,
    /// The site it is about; for a size class, the one with most objects that fit
    pub(crate) site: &'a Site,
    /// Place of the site in the trace's table
    pub(crate) index: usize,
    pub(crate) subject: String,
    pub(crate) class_bytes: u64,
    pub(crate) object_bytes: u64,
    /// The most objects alive at once that it is about; of several sites, the sum
    pub(crate) live_peak: u64,
    /// At least what could come of it, to try the best first
    pub(crate) estimate: u64,
}
