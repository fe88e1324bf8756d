//! What a recording lacks, as it shows in what is there: events of a kind that were not recorded, or all but a part.
//!
//! # How it works
//! A kernel that allocates also frees: many allocations beside no free at all mean that frees were not recorded. Where every
//! object is of one cache, or from one call site of many objects, the recorder kept only those. Our own recorder always
//! records every kind, and says which part it was told to record; what it says stands.

use crate::meta::{Meta, Site};

/// Fewer events than these can be of one kind by chance.
const EVENTS_MIN: u64 = 20;
/// A machine that does anything allocates from more than one cache or call site within as many allocations.
const ALLOCS_OF_ALL_MIN: u64 = 200;
/// Frees of objects that the recording does not have are more than this share of all only if allocations are missing.
const OLDER_SHARE_MAX: f64 = 0.5;
/// What our own recorder calls itself.
pub(crate) const OWN_RECORDER: &str = "slablab record";

/// What a recording lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Lack {
    /// Frees of a kind of allocation, and how often that kind occurs
    Frees { allocs: &'static str, frees: &'static str, events: u64 },
    /// Allocations of a kind of free, and how often that kind occurs
    Allocs { allocs: &'static str, frees: &'static str, events: u64 },
    /// All caches but this
    OtherCaches { cache: String },
    /// All sizes but those for which kmalloc allocates this number of bytes
    OtherSizes { bytes: u64 },
    /// All call sites but this
    OtherSites { site: String },
    /// Allocations of most objects that are freed
    AllocsOfFreed { older_frees: u64, frees: u64 },
}

impl Meta {
    /// Returns what the recording lacks, a sentence each, what matters most first.
    #[must_use]
    pub fn lacks(&self) -> Vec<String> {
        self.lacking().iter().map(Lack::says).collect()
    }

    fn lacking(&self) -> Vec<Lack> {
        if self.recorder == OWN_RECORDER || !self.only.is_empty() || self.portion.is_some() {
            return Vec::new();
        }
        let [kmallocs, kfrees, allocs, frees, _] = self.events_by_kind;
        let kinds = [
            ("kmalloc", kmallocs, "kfree", kfrees),
            ("kmem_cache_alloc", allocs, "kmem_cache_free", frees),
        ];
        let mut lacks = Vec::new();
        for (allocs, of_allocs, frees, of_frees) in kinds {
            match (of_allocs, of_frees) {
                (events @ EVENTS_MIN.., 0) => lacks.push(Lack::Frees { allocs, frees, events }),
                (0, events @ EVENTS_MIN..) => lacks.push(Lack::Allocs { allocs, frees, events }),
                _ => {}
            }
        }
        lacks.extend(self.only_cache());
        lacks.extend(self.only_size(kmallocs.saturating_add(allocs)));
        lacks.extend(self.only_site(kmallocs.saturating_add(allocs)));
        let of_frees = kfrees.saturating_add(frees);
        let older_frees = self.quality.older_frees;
        let has_allocs = kmallocs.saturating_add(allocs) > 0;
        if has_allocs
            && of_frees >= ALLOCS_OF_ALL_MIN
            && older_frees as f64 > of_frees as f64 * OLDER_SHARE_MAX
        {
            lacks.push(Lack::AllocsOfFreed { older_frees, frees: of_frees });
        }
        lacks
    }

    /// Says that no lifetime is known, since no free of a kind was recorded; `None` where lifetimes are known.
    #[must_use]
    pub fn lacks_lifetimes(&self) -> Option<String> {
        self.lacking().iter().find(|lack| matches!(lack, Lack::Frees { .. })).map(Lack::says)
    }

    fn only_cache(&self) -> Option<Lack> {
        let mut used = self.caches.iter().filter(|cache| cache.allocs > 0);
        let (cache, more) = (used.next()?, used.next());
        let is_only = more.is_none() && cache.allocs >= ALLOCS_OF_ALL_MIN && !cache.name.is_empty();
        let is_all = cache.allocs == self.events_by_kind[0].saturating_add(self.events_by_kind[2]);
        (is_only && is_all).then(|| Lack::OtherCaches { cache: cache.name.clone() })
    }

    /// Several call sites whose largest objects all belong to one class were chosen by their size.
    fn only_size(&self, allocs: u64) -> Option<Lack> {
        const SITES_MIN: usize = 4;
        let class = |site: &Site| site.bytes_req_max.max(1).checked_next_power_of_two();
        let (first, rest) = self.sites.split_first()?;
        let bytes = class(first).filter(|_| first.bytes_req_max > 0)?;
        let is_only = allocs >= ALLOCS_OF_ALL_MIN
            && self.sites.len() >= SITES_MIN
            && rest.iter().all(|site| class(site) == Some(bytes));
        is_only.then_some(Lack::OtherSizes { bytes })
    }

    fn only_site(&self, allocs: u64) -> Option<Lack> {
        match &self.sites[..] {
            [site] if allocs >= ALLOCS_OF_ALL_MIN => {
                Some(Lack::OtherSites { site: site.name.clone() })
            }
            _ => None,
        }
    }
}

impl Lack {
    /// Says it in a sentence.
    fn says(&self) -> String {
        match self {
            Self::Frees { allocs, frees, events } => format!(
                "Frees were not recorded: there are {events} events of {allocs} and none of {frees}, so neither lifetimes \
                 nor live bytes are known."
            ),
            Self::Allocs { allocs, frees, events } => format!(
                "Allocations were not recorded: there are {events} events of {frees} and none of {allocs}."
            ),
            Self::OtherCaches { cache } => format!(
                "Every object is of {cache}: other caches or sizes were not recorded, and all figures are of that part."
            ),
            Self::OtherSizes { bytes } => format!(
                "Every call site asks for at most {bytes} bytes and more than half of that: other sizes were not recorded, and \
                 all figures are of that part."
            ),
            Self::OtherSites { site } => format!(
                "Every object is from {site}: other call sites were not recorded, and all figures are of that part."
            ),
            Self::AllocsOfFreed { older_frees, frees } => format!(
                "{older_frees} of {frees} frees are of objects whose allocation is not there: the recording has a part of the \
                 allocations only, or is short."
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meta::{Quality, RecordedCache};

    fn meta(events_by_kind: [u64; 5]) -> Meta {
        let site = |name: &str| Site { name: name.into(), ..Site::default() };
        Meta { events_by_kind, sites: vec![site("a"), site("b")], ..Meta::default() }
    }

    #[test]
    fn a_kind_of_which_there_are_no_frees_has_no_lifetimes() {
        let lacks = meta([400, 0, 0, 0, 0]).lacking();
        assert_eq!(lacks, [Lack::Frees { allocs: "kmalloc", frees: "kfree", events: 400 }]);
        assert!(meta([400, 1, 0, 0, 0]).lacking().is_empty());
        assert!(meta([400, 390, 50, 0, 0]).lacks_lifetimes().unwrap().contains("kmem_cache_free"));
        assert!(meta([3, 0, 0, 0, 0]).lacking().is_empty(), "three allocations may all live");
        assert!(matches!(meta([0, 40, 0, 0, 0]).lacking()[0], Lack::Allocs { events: 40, .. }));
    }

    #[test]
    fn what_our_recorder_recorded_or_was_told_to_leave_out_is_no_lack() {
        let own = Meta { recorder: OWN_RECORDER.into(), ..meta([400, 0, 0, 0, 0]) };
        let part = Meta { only: vec!["cache dentry".into()], ..meta([400, 0, 0, 0, 0]) };
        assert!(own.lacking().is_empty() && part.lacking().is_empty());
    }

    #[test]
    fn a_part_of_caches_sites_or_allocations_is_known_as_such() {
        let cache = |name: &str, allocs| RecordedCache {
            name: name.into(),
            allocs,
            ..RecordedCache::default()
        };
        let mut one = meta([500, 400, 0, 0, 0]);
        one.caches = vec![cache("kmalloc-1k", 500), cache("unused", 0)];
        assert_eq!(one.lacking(), [Lack::OtherCaches { cache: "kmalloc-1k".into() }]);
        one.caches[1].allocs = 1;
        assert!(one.lacking().is_empty());
        one.sites.pop();
        assert_eq!(one.lacking(), [Lack::OtherSites { site: "a".into() }]);
        let of = |name: &str, bytes_req_max| Site {
            name: name.into(),
            bytes_req_max,
            ..Site::default()
        };
        let sized = |last| Meta {
            sites: vec![of("a", 936), of("b", 600), of("c", 1024), of("d", last)],
            ..meta([500, 400, 0, 0, 0])
        };
        assert_eq!(sized(700).lacking(), [Lack::OtherSizes { bytes: 1024 }]);
        assert!(sized(200).lacking().is_empty());
        let older = Quality { older_frees: 9000, ..Quality::default() };
        let filtered = Meta { quality: older, ..meta([300, 9300, 0, 0, 0]) };
        assert!(matches!(filtered.lacking()[..], [Lack::AllocsOfFreed { older_frees: 9000, .. }]));
    }
}
