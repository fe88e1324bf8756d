//! How a call site requests its objects, and which functions free them: what a patch has to state beside their
//! number and size.
//!
//! # How it works
//! One pass over the rows, with the objects of the site that are alive in a table by slot.

use std::collections::BTreeMap;

use serde::Serialize;
use slablab_kmem::Gfp;
use slablab_trace::{Batch, Kind, NONE, TraceReader};

use crate::error::Error;
use crate::slots::Slots;

/// How a call site's objects are allocated and freed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Calls {
    /// The gfp flags of its allocations, the most frequent first
    pub gfp: Vec<GfpCount>,
    /// The functions that free its objects, the most frequent first
    pub freed_by: Vec<FreeCount>,
    /// Objects that are gone although no free of them was seen
    pub freed_unseen: u64,
}

impl Calls {
    /// Returns the flags that most allocations pass; `GFP_KERNEL` if there is no allocation.
    #[must_use]
    pub fn usual_gfp(&self) -> Gfp {
        self.gfp.first().map_or(Gfp::KERNEL, |count| Gfp(count.gfp))
    }

    /// Returns whether most of the objects are charged to a memory cgroup.
    #[must_use]
    pub fn is_accounted(&self) -> bool {
        self.usual_gfp().0 & Gfp::ACCOUNT.0 != 0
    }
}

/// How often a call site passed which flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct GfpCount {
    /// The flags
    pub gfp: u32,
    /// Allocations with them
    pub allocs: u64,
}

/// How often a function freed a call site's objects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FreeCount {
    /// The call site of `kfree()`
    pub site: String,
    /// Frees there
    pub frees: u64,
}

/// Counts over the rows.
#[derive(Debug)]
struct Counts {
    site: u32,
    is_alive: Slots<bool>,
    gfp: BTreeMap<u32, u64>,
    freed_by: BTreeMap<u32, u64>,
    freed_unseen: u64,
}

impl Counts {
    fn batch(&mut self, batch: &Batch) {
        for row in 0..batch.len() {
            let (object, kind) = (batch.object[row], batch.kind[row]);
            let is_of_site = kind == Kind::Kmalloc && batch.site[row] == self.site;
            if is_of_site {
                *self.gfp.entry(batch.gfp[row]).or_default() += 1;
            }
            if object == NONE {
                continue;
            }
            let was_alive =
                self.is_alive.get_mut(object as usize).map(std::mem::take) == Some(true);
            if is_of_site {
                *self.is_alive.entry(object as usize) = true;
            }
            match kind {
                Kind::Kfree | Kind::KmemCacheFree if was_alive => {
                    *self.freed_by.entry(batch.site[row]).or_default() += 1;
                }
                _ => self.freed_unseen += u64::from(was_alive),
            }
        }
    }
}

/// Looks at the calls of a site, a place in [`Meta::sites`](slablab_trace::Meta::sites).
///
/// # Errors
///
/// If the trace cannot be read.
pub fn calls(reader: &TraceReader, site: u32) -> Result<Calls, Error> {
    let meta = reader.meta();
    let mut counts = Counts {
        site,
        is_alive: Slots::new(meta.events),
        gfp: BTreeMap::new(),
        freed_by: BTreeMap::new(),
        freed_unseen: 0,
    };
    for batch in reader.batches_without_pid() {
        let batch = batch?;
        counts.batch(&batch);
    }
    let name = |site: u32| meta.sites.get(site as usize).map_or("?", |site| &site.name);
    let mut gfp: Vec<_> =
        counts.gfp.into_iter().map(|(gfp, allocs)| GfpCount { gfp, allocs }).collect();
    gfp.sort_by_key(|count| std::cmp::Reverse(count.allocs));
    let free = |(site, frees)| FreeCount { site: name(site).to_owned(), frees };
    let mut freed_by: Vec<_> = counts.freed_by.into_iter().map(free).collect();
    freed_by.sort_by_key(|count| std::cmp::Reverse(count.frees));
    Ok(Calls { gfp, freed_by, freed_unseen: counts.freed_unseen })
}
