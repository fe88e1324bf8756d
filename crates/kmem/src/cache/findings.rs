//! Findings: the faults that checks noticed.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::ids::{ObjPtr, Site};
use crate::raw::lock::Lock;

/// Findings kept; more are only counted.
const KEPT_MAX: usize = 1000;

/// A kind of misuse or damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FindingKind {
    /// An object was freed that was already free.
    DoubleFree,
    /// An object was freed to a cache that it is not from.
    WrongCache,
    /// A pointer into an object, not to its start, was freed.
    InteriorPointer,
    /// A pointer was freed that leads to no object of this machine.
    ForeignPointer,
    /// The bytes behind an object changed.
    OverflowRight,
    /// The bytes before an object changed.
    OverflowLeft,
    /// A free object's bytes changed.
    WriteAfterFree,
    /// A free list leads out of its slab.
    FreeListCorrupt,
    /// A cache was destroyed with objects still live.
    DestroyWithObjects,
    /// A destroyed cache was used.
    UseAfterDestroy,
    /// A pointer that no object can have: not a multiple of 8.
    Unaligned,
    /// A size beyond the largest allocation, or a negative one.
    BadSize,
    /// An order beyond the largest block, or not the one allocated.
    BadOrder,
    /// `validate()` found sums that do not agree.
    Imbalance,
}

/// A fault that a check noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The kind of fault.
    pub kind: FindingKind,
    /// The cache, where there is one.
    pub cache: String,
    /// The object, where there is one.
    pub object: Option<ObjPtr>,
    /// Offset in the object, in bytes, of the first wrong byte or of the pointer; may be negative.
    pub offset: i64,
    /// Call site of this operation.
    pub site: Site,
    /// Call site of the previous operation on the object (its allocation or free), where known.
    pub site_before: Option<Site>,
    /// Call site of the object's last allocation, where known.
    pub site_allocated: Option<Site>,
    /// What was expected and what was found.
    pub detail: String,
}

impl Finding {
    /// Describes a finding that names no cache and no object yet.
    pub(crate) fn new(kind: FindingKind, site: Site, detail: impl Into<String>) -> Self {
        let (cache, detail) = (String::from("-"), detail.into());
        Self {
            kind,
            cache,
            object: None,
            offset: 0,
            site,
            site_before: None,
            site_allocated: None,
            detail,
        }
    }

    /// Names the cache.
    pub(crate) fn cache(mut self, name: impl Into<String>) -> Self {
        self.cache = name.into();
        self
    }

    /// Names the object and the offset in it.
    pub(crate) fn object(mut self, object: ObjPtr, offset: i64) -> Self {
        (self.object, self.offset) = (Some(object), offset);
        self
    }

    /// Names the call site of the previous operation on the object.
    pub(crate) fn before(mut self, site: Option<Site>) -> Self {
        self.site_before = site;
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: cache {}", self.kind, self.cache)?;
        if let Some(object) = self.object {
            write!(f, ", object {object}{:+}", self.offset)?;
        }
        write!(f, ", site {}", self.site.0)?;
        if let Some(before) = self.site_before {
            write!(f, ", before that site {}", before.0)?;
        }
        write!(f, ": {}", self.detail)
    }
}

/// A machine's findings.
#[derive(Debug, Default)]
pub(crate) struct FindingLog {
    log: Lock<(Vec<Finding>, u64)>,
}

impl FindingLog {
    #[cold]
    pub(crate) fn report(&self, finding: Finding) {
        let mut log = self.log.lock();
        log.1 += 1;
        if log.0.len() < KEPT_MAX {
            log.0.push(finding);
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.log.lock().1
    }

    pub(crate) fn take(&self) -> Vec<Finding> {
        core::mem::take(&mut self.log.lock().0)
    }
}
