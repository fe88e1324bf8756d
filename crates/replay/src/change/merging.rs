//! Whether the recorded kernel lets caches that are alike share slabs, and which of them a new cache would
//! share.
//!
//! # How it works
//! Under `/sys/kernel/slab`, SLUB calls a cache that others may merge with `:` and its flags and size
//! (`:A-0000192`), and gives each of its users a link; a cache that is never merged has its own name. So the snapshot
//! of a trace tells which caches share slabs. There is one cache for each set of flags and size, so a new cache that
//! is made without flags is served by the one of its size.
//!
//! Linux counterpart: `create_unique_id`, `slab_unmergeable` in `mm/slub.c`, `find_mergeable` in `mm/slab_common.c` @
//! 6.1.

use std::collections::BTreeMap;

use slablab_trace::{Meta, SlubCache};

use crate::change::changes::{Changes, Dedicated};

/// What a trace knows of merging in the recorded kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KernelMerging {
    /// The trace does not list the kernel's caches
    Unknown,
    /// No cache may be merged (`slab_nomerge`)
    Off,
    /// Caches that are alike share slabs
    On {
        /// Caches that serve several names
        shared: usize,
        /// The names that they serve
        names: usize,
        /// The names of the cache with most of them
        most: Vec<String>,
    },
}

impl KernelMerging {
    /// Reads it from the snapshots of a trace.
    #[must_use]
    pub fn of(meta: &Meta) -> Self {
        let caches: BTreeMap<&str, &SlubCache> =
            caches(meta).map(|cache| (cache.name.as_str(), cache)).collect();
        if caches.is_empty() {
            return Self::Unknown;
        }
        // A merged cache has a name of its own beside those of its users, or the name of one of them.
        let is_shared =
            |cache: &&&SlubCache| cache.aliases.len() + usize::from(!may_merge(cache)) >= 2;
        let shared: Vec<_> = caches.values().filter(is_shared).collect();
        if shared.is_empty() && !caches.values().any(|cache| may_merge(cache)) {
            return Self::Off;
        }
        let most = shared.iter().max_by_key(|cache| cache.aliases.len());
        Self::On {
            shared: shared.len(),
            names: shared.iter().map(|cache| cache.aliases.len()).sum(),
            most: most.map_or_else(Vec::new, |cache| cache.aliases.clone()),
        }
    }
}

fn caches(meta: &Meta) -> impl Iterator<Item = &SlubCache> {
    meta.slabs_start.iter().chain(&meta.slabs_end).flat_map(|snapshot| &snapshot.caches)
}

fn may_merge(cache: &SlubCache) -> bool {
    cache.name.starts_with(':')
}

impl Changes {
    /// Returns the names of the recorded kernel's cache whose slabs a new cache would share there; `None` if it would
    /// have its own.
    #[must_use]
    pub fn shares_with(&self, dedicated: &Dedicated, meta: &Meta) -> Option<Vec<String>> {
        let sizes = dedicated.sites.iter().map(|site| meta.sites[*site as usize].bytes_req_max);
        let size = size(sizes.max().unwrap_or(0), dedicated.align)?;
        partner(meta, size).map(|cache| cache.aliases.clone())
    }
}

/// Returns the names of the recorded kernel's cache with which a new one of `bytes` would be merged;
/// `accounted` tells whether it is made with `SLAB_ACCOUNT`.
#[must_use]
pub fn merges_with(meta: &Meta, bytes: u64, accounted: bool) -> Option<Vec<String>> {
    let size = size(bytes, 0)?;
    let name = format!(":{}{size:07}", if accounted { "A-" } else { "" });
    let partner = caches(meta).find(|cache| cache.name == name)?;
    Some(if partner.aliases.is_empty() { vec![name] } else { partner.aliases.clone() })
}

/// Returns the bytes from one object to the next by which a new cache without flags is merged.
pub(crate) fn size(bytes: u64, align: u32) -> Option<u64> {
    bytes.max(1).checked_next_multiple_of(u64::from(align.max(8)))
}

/// Returns the recorded kernel's cache that a new one of this size and without flags is merged with.
pub(crate) fn partner(meta: &Meta, size: u64) -> Option<&SlubCache> {
    let name = format!(":{size:07}");
    caches(meta).find(|cache| cache.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use slablab_trace::{Site, SlabSnapshot};

    fn meta(caches: &[(&str, &[&str])]) -> Meta {
        let cache = |(name, aliases): &(&str, &[&str])| SlubCache {
            name: (*name).to_owned(),
            aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
            ..SlubCache::default()
        };
        let mut snapshot = SlabSnapshot::default();
        snapshot.caches = caches.iter().map(cache).collect();
        let site = Site { name: "f+0x1".into(), bytes_req_max: 36, ..Site::default() };
        Meta { slabs_start: Some(snapshot), sites: vec![site], ..Meta::default() }
    }

    #[test]
    fn an_accounted_cache_merges_with_accounted_ones_only() {
        let meta = meta(&[(":A-0000040", &["vma"]), (":0000048", &["file"])]);
        assert_eq!(merges_with(&meta, 36, true), Some(vec!["vma".to_owned()]));
        assert_eq!(merges_with(&meta, 36, false), None);
        assert_eq!(merges_with(&meta, 48, false), Some(vec!["file".to_owned()]));
    }

    #[test]
    fn the_names_of_directories_tell_whether_caches_share_slabs() {
        assert_eq!(KernelMerging::of(&Meta::default()), KernelMerging::Unknown);
        assert_eq!(KernelMerging::of(&meta(&[("a", &[]), ("b", &[])])), KernelMerging::Off);
        let merging = KernelMerging::of(&meta(&[
            (":0000040", &["a", "b"]),
            (":A-0000040", &["c"]),
            ("d", &[]),
        ]));
        let most = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(merging, KernelMerging::On { shared: 1, names: 2, most });
    }

    #[test]
    fn a_new_cache_shares_the_slabs_of_its_size_and_of_no_flags() {
        let meta = meta(&[(":0000040", &["a"]), (":A-0000048", &["b"]), ("kmalloc-48", &[])]);
        let name =
            |bytes, align| partner(&meta, size(bytes, align)?).map(|cache| cache.name.as_str());
        assert_eq!(name(36, 0), Some(":0000040"));
        assert_eq!((name(41, 0), name(36, 16), name(u64::MAX, 0)), (None, None, None));
        let dedicated = Dedicated { name: "mine".into(), sites: vec![0], align: 0, sizes: None };
        assert_eq!(Changes::default().shares_with(&dedicated, &meta), Some(vec!["a".to_owned()]));
    }
}
