//! The same trace with and without changes, side by side.
//!
//! Both replays run in one pass over the trace; everything that is in a [`Replay`] is there twice, and
//! [`WhatIf::differences`] lists what changed.

use serde::Serialize;
use slablab_trace::{Meta, TraceReader};

use crate::change::{Changes, Dedication};
use crate::error::Error;
use crate::plan::Plan;
use crate::replay::replay_all;
use crate::result::{Allocator, Replay};
use crate::select::{nearest_name, suggestion};

/// Where kmalloc hands over to the page allocator: two pages (`KMALLOC_MAX_CACHE_SIZE`).
const CLASS_BYTES_MAX: u32 = 8192;

/// Changes that cannot be meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// Nothing to compare
    #[error("nothing is changed; say what should be, for instance --dedicate SITE")]
    Nothing,
    /// A site cannot allocate from two caches
    #[error("{site} is dedicated twice: to {first} and to {second}")]
    DedicatedTwice {
        /// The call site
        site: String,
        /// One cache
        first: String,
        /// The other
        second: String,
    },
    /// Only kmalloc sites can be given a cache
    #[error(
        "{site} allocates from the cache {cache} already; --undedicate {cache} would undo that"
    )]
    NotKmalloc {
        /// The call site
        site: String,
        /// Its cache
        cache: String,
    },
    /// The name is taken
    #[error(
        "the recorded kernel has a cache {name} already; give the new one another name with =NAME"
    )]
    NameTaken {
        /// The name
        name: String,
    },
    /// No cache of that name
    #[error("the trace has no cache {name:?}{}", suggestion(nearest))]
    NoCache {
        /// The name
        name: String,
        /// The name in the trace that looks most like it
        nearest: Option<String>,
    },
    /// Impossible size classes
    #[error("size classes: {what}")]
    Classes {
        /// What is wrong with them
        what: String,
    },
}

impl Changes {
    /// Checks that the changes can be made to a trace, and mean what they say.
    ///
    /// # Errors
    ///
    /// The first thing that cannot be meant.
    pub fn check(&self, meta: &Meta) -> Result<(), ChangeError> {
        if self.is_empty() {
            return Err(ChangeError::Nothing);
        }
        let mut taken: Vec<Option<&str>> = vec![None; meta.sites.len()];
        for dedicated in &self.dedicated {
            let snapshots = || meta.slabs_start.iter().chain(&meta.slabs_end);
            if meta.caches.iter().any(|cache| cache.name == dedicated.name)
                || snapshots().any(|slabs| slabs.cache(&dedicated.name).is_some())
            {
                return Err(ChangeError::NameTaken { name: dedicated.name.clone() });
            }
            for site in &dedicated.sites {
                let before = taken[*site as usize].replace(&dedicated.name);
                if let Some(first) = before.filter(|first| *first != dedicated.name) {
                    return Err(ChangeError::DedicatedTwice {
                        site: meta.sites[*site as usize].name.clone(),
                        first: first.to_owned(),
                        second: dedicated.name.clone(),
                    });
                }
            }
        }
        for name in &self.undedicated {
            let known = || {
                let recorded = meta.caches.iter().map(|cache| cache.name.as_str());
                recorded.chain(self.dedicated.iter().map(|dedicated| dedicated.name.as_str()))
            };
            if !known().any(|cache| cache == name) {
                let nearest = nearest_name(name, known());
                return Err(ChangeError::NoCache { name: name.clone(), nearest });
            }
        }
        self.classes.as_deref().map_or(Ok(()), check_classes)
    }
}

/// Objects of more caches than this make no map that says anything.
const WATCHED_CACHES_MAX: usize = 8;

impl Changes {
    /// Returns the call sites whose objects are worth a map: those with a cache of their own.
    fn sites_to_watch(&self) -> Vec<u32> {
        match self.dedicated.len() {
            0..=WATCHED_CACHES_MAX => {
                self.dedicated.iter().flat_map(|dedicated| &dedicated.sites).copied().collect()
            }
            _ => Vec::new(),
        }
    }
}

fn check_classes(classes: &[u32]) -> Result<(), ChangeError> {
    let wrong = |what: String| Err(ChangeError::Classes { what });
    if let Some(class) = classes.iter().find(|class| **class < 8 || !class.is_multiple_of(8)) {
        return wrong(format!("{class} is none of 8, 16, 24, ..."));
    }
    if let Some(pair) = classes.windows(2).find(|pair| pair[0] >= pair[1]) {
        return wrong(format!("{} stands behind {}; they have to rise", pair[1], pair[0]));
    }
    match classes.last() {
        Some(&CLASS_BYTES_MAX) => Ok(()),
        _ => wrong(format!(
            "the largest has to be {CLASS_BYTES_MAX}; what is larger comes from the page allocator"
        )),
    }
}

/// A trace with and without changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WhatIf {
    /// As recorded
    pub before: Replay,
    /// With the changes
    pub after: Replay,
}

/// A number that is not what it was.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The allocator
    pub allocator: String,
    /// What is counted, unit last
    pub metric: &'static str,
    /// As recorded
    pub before: u64,
    /// With the changes
    pub after: u64,
}

/// Replays a trace with and without the changes of `plan`. Unless `plan` says which call sites to watch, those are
/// watched that get a cache of their own.
///
/// # Errors
///
/// As [`crate::replay()`], and [`Error::Change`] when the changes cannot be meant.
pub fn what_if(
    reader: &TraceReader,
    plan: &Plan,
    progress: &mut dyn FnMut(u64),
) -> Result<WhatIf, Error> {
    plan.changes.check(reader.meta())?;
    let mut changed = plan.clone();
    if changed.watched.is_empty() {
        changed.watched = plan.changes.sites_to_watch();
    }
    let recorded = Plan { changes: Changes::default(), ..changed.clone() };
    let mut replays = replay_all(reader, &[recorded, changed], progress)?.into_iter();
    let (Some(before), Some(after)) = (replays.next(), replays.next()) else {
        unreachable!("two plans give two replays");
    };
    check_sites(&plan.changes, reader.meta(), &before)?;
    Ok(WhatIf { before, after })
}

/// Refuses a dedicated site that does not allocate by kmalloc: the change would be silently without effect.
fn check_sites(changes: &Changes, meta: &Meta, before: &Replay) -> Result<(), ChangeError> {
    if changes.dedication == Dedication::Every {
        return Ok(());
    }
    for dedicated in &changes.dedicated {
        let names = || dedicated.sites.iter().map(|site| meta.sites[*site as usize].name.as_str());
        let by_cache =
            |name: &str| before.sites.iter().find(|s| s.site == name && !s.cache.is_empty());
        // A pattern may cover both kinds; it is wrong when it covers no kmalloc at all.
        if names().all(|name| by_cache(name).is_some())
            && let Some(site) = names().find_map(by_cache)
        {
            return Err(ChangeError::NotKmalloc {
                site: site.site.clone(),
                cache: site.cache.clone(),
            });
        }
    }
    Ok(())
}

impl WhatIf {
    /// Returns the numbers of each allocator that the changes changed, and those that people look for first
    /// whether they changed or not.
    #[must_use]
    pub fn differences(&self) -> Vec<Difference> {
        let pairs = self.before.allocators.iter().zip(&self.after.allocators);
        pairs.flat_map(|(before, after)| compare(before, after)).collect()
    }
}

fn compare(before: &Allocator, after: &Allocator) -> Vec<Difference> {
    type Read = fn(&Allocator) -> u64;
    const METRICS: [(&str, Read); 16] = [
        ("held_bytes_peak", |a| a.held_bytes.peak),
        ("held_bytes_mean", |a| a.held_bytes.mean),
        ("held_bytes_end", |a| a.held_bytes.end),
        ("slab_bytes_peak", |a| a.slab_bytes.peak),
        ("slab_bytes_mean", |a| a.slab_bytes.mean),
        ("slab_bytes_end", |a| a.slab_bytes.end),
        ("slabs_peak", |a| a.slabs.peak),
        ("slabs_end", |a| a.slabs.end),
        ("requested_bytes_peak", |a| a.requested_bytes.peak),
        ("allocated_bytes_peak", |a| a.allocated_bytes.peak),
        ("allocated_bytes_mean", |a| a.allocated_bytes.mean),
        ("allocated_bytes_end", |a| a.allocated_bytes.end),
        ("alloc_fastpath", |a| a.paths.get("alloc_fastpath").copied().unwrap_or(0)),
        ("free_fastpath", |a| a.paths.get("free_fastpath").copied().unwrap_or(0)),
        ("locks", |a| a.locks.values().sum()),
        ("failed", |a| a.failed),
    ];
    let differences = METRICS.iter().map(|(metric, read)| Difference {
        allocator: before.allocator.clone(),
        metric,
        before: read(before),
        after: read(after),
    });
    differences.filter(|d| d.before != d.after || d.metric.starts_with("held_bytes")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use slablab_trace::{Cache, Site};

    fn meta() -> Meta {
        let site = |name: &str| Site { name: name.into(), ..Site::default() };
        let cache = Cache { name: "dentry".into(), ..Cache::default() };
        Meta { sites: vec![site("a+0x1"), site("b+0x2")], caches: vec![cache], ..Meta::default() }
    }

    fn message(changes: &Changes) -> String {
        changes.check(&meta()).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let changes = Changes::default();
        assert!(message(&changes).starts_with("nothing is changed"));
        let twice = changes.clone().dedicate("x", vec![0]).dedicate("y", vec![0]);
        assert_eq!(message(&twice), "a+0x1 is dedicated twice: to x and to y");
        let taken = changes.clone().dedicate("dentry", vec![0]);
        assert!(message(&taken).contains("already"));
        // A cache of which the trace saw no event is one, too.
        let known = slablab_trace::SlubCache { name: "bio".into(), ..Default::default() };
        let mut meta = meta();
        let mut snapshot = slablab_trace::SlabSnapshot::default();
        snapshot.caches = vec![known];
        meta.slabs_start = Some(snapshot);
        let error = changes.clone().dedicate("bio", vec![0]).check(&meta).unwrap_err();
        assert!(error.to_string().starts_with("the recorded kernel has a cache bio"), "{error}");
        let unknown = changes.undedicate("dentri");
        assert!(message(&unknown).ends_with("did you mean \"dentry\"?"));
    }

    #[test]
    fn size_classes_rise_in_eights_to_two_pages() {
        let classes = |list: &[u32]| Changes { classes: Some(list.to_vec()), ..Changes::default() };
        assert!(classes(&[8, 40, 8192]).check(&meta()).is_ok());
        assert!(message(&classes(&[16, 8, 8192])).contains("have to rise"));
        assert!(message(&classes(&[8, 12, 8192])).contains("12 is none of"));
        assert!(message(&classes(&[8, 64])).contains("largest"));
        assert!(message(&classes(&[])).contains("largest"));
    }
}
