//! Applies changes to each event on its way to the engine.

use std::collections::HashMap;

use rustc_hash::FxHashMap;
use slablab_trace::{Event, Kind, Meta, NONE};

use crate::change::changes::{Changes, Dedicated};

/// Changes made to each event on its way to the engine.
#[derive(Debug, Clone)]
pub(crate) struct Rewrite {
    /// The cache that a site's kmallocs go to, [`NONE`] to leave them
    by_site: Vec<u32>,
    /// Caches by site and size, for sites with caches for some sizes only: those above the first and up to the
    /// second
    by_size: Vec<Vec<(u64, u64, u32)>>,
    /// Whether a cache's objects come from kmalloc
    to_kmalloc: Vec<bool>,
    /// By cache of the changed metadata: the first of [`Changes::dedicated`] that makes it, [`NONE`] of recorded ones
    made_by: Vec<u32>,
    /// Whether any event changes
    active: bool,
}

impl Rewrite {
    /// Prepares the changes; `meta` is that of [`Changes::meta`].
    pub(crate) fn new(changes: &Changes, meta: &Meta) -> Self {
        // Looked up one by one, a cache for each of 50,000 call sites took a minute.
        let mut places: FxHashMap<&str, usize> = HashMap::default();
        for (place, cache) in meta.caches.iter().enumerate() {
            places.entry(&cache.name).or_insert(place);
        }
        let cache = |name: &str| places.get(name).copied();
        let mut made_by = vec![NONE; meta.caches.len()];
        let mut by_site = Vec::new();
        if !changes.dedicated.is_empty() {
            by_site.resize(meta.sites.len(), NONE);
        }
        let mut by_size = Vec::new();
        if changes.dedicated.iter().any(|dedicated| dedicated.sizes.is_some()) {
            by_size.resize(meta.sites.len(), Vec::new());
        }
        for (number, dedicated) in (0..).zip(&changes.dedicated) {
            let id = cache(&dedicated.name).expect("Changes::meta added it") as u32;
            if made_by[id as usize] == NONE {
                made_by[id as usize] = number;
            }
            for site in &dedicated.sites {
                by_site[*site as usize] = id;
                if let Some((above, most)) = dedicated.sizes {
                    by_size[*site as usize].push((above, most, id));
                }
            }
        }
        let mut to_kmalloc = vec![false; meta.caches.len()];
        for id in changes.undedicated.iter().filter_map(|name| cache(name)) {
            to_kmalloc[id] = true;
        }
        let active = !changes.dedicated.is_empty() || !changes.undedicated.is_empty();
        Self { by_site, by_size, to_kmalloc, made_by, active }
    }

    /// Returns what makes a cache of the changed metadata, if it is none of the recorded ones.
    pub(crate) fn made_by<'a>(&self, changes: &'a Changes, cache: u32) -> Option<&'a Dedicated> {
        changes.dedicated.get(*self.made_by.get(cache as usize)? as usize)
    }

    /// Changes an allocation.
    #[inline]
    pub(crate) fn apply(&self, event: &mut Event) {
        if !self.active {
            return;
        }
        let recorded = if event.kind == Kind::Kmalloc { NONE } else { event.cache };
        let site = event.site as usize;
        let cache = match self.by_size.get(site) {
            Some(sizes) if recorded == NONE && !sizes.is_empty() => {
                let serves = |(above, most, _): &&(u64, u64, u32)| {
                    *above < event.bytes_req && event.bytes_req <= *most
                };
                sizes.iter().find(serves).map_or(NONE, |(.., cache)| *cache)
            }
            _ => self.cache_of(site, recorded),
        };
        if cache != recorded {
            event.kind = if cache == NONE { Kind::Kmalloc } else { Kind::KmemCacheAlloc };
            event.cache = cache;
        }
    }

    /// Returns the cache of an allocation at `site` that was recorded from `cache`; [`NONE`] is kmalloc.
    #[inline]
    pub(crate) fn cache_of(&self, site: usize, cache: u32) -> u32 {
        let cache = match cache {
            NONE => self.by_site.get(site).copied().unwrap_or(NONE),
            cache => cache,
        };
        match self.to_kmalloc.get(cache as usize) {
            Some(true) => NONE,
            _ => cache,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slablab_trace::{RecordedCache, Site};

    fn meta() -> Meta {
        let site = |name: &str| Site { name: name.into(), bytes_req_max: 40, ..Site::default() };
        let cache =
            RecordedCache { name: "dentry".into(), bytes_req_max: 192, ..RecordedCache::default() };
        Meta { sites: vec![site("a+0x1"), site("b+0x2")], caches: vec![cache], ..Meta::default() }
    }

    fn kmalloc(site: u32) -> Event {
        Event {
            time_ns: 0,
            cpu: 0,
            pid: 0,
            kind: Kind::Kmalloc,
            object: 0,
            site,
            cache: NONE,
            bytes_req: 40,
            bytes_alloc: 64,
            gfp: 0,
            node: -1,
            stack: NONE,
        }
    }

    #[test]
    fn a_dedicated_site_allocates_from_its_cache_and_others_do_not() {
        let changes = Changes::default().dedicate("mine", vec![1]);
        let meta = changes.meta(&meta());
        assert_eq!((meta.caches[1].name.as_str(), meta.caches[1].bytes_req_max), ("mine", 40));
        let rewrite = Rewrite::new(&changes, &meta);
        let mut event = kmalloc(1);
        rewrite.apply(&mut event);
        assert_eq!((event.kind, event.cache), (Kind::KmemCacheAlloc, 1));
        let mut event = kmalloc(0);
        rewrite.apply(&mut event);
        assert_eq!(event, kmalloc(0));
    }

    #[test]
    fn a_site_of_several_sizes_has_a_cache_for_each_of_those_that_are_named() {
        let of = |name: &str, sizes| {
            let (name, sites, align) = (name.to_owned(), vec![1], 0);
            Dedicated { name, sites, align, sizes: Some(sizes) }
        };
        let dedicated = vec![of("b in 32", (16, 32)), of("b in 64", (32, 64))];
        let changes = Changes { dedicated, ..Changes::default() };
        let meta = changes.meta(&meta());
        assert_eq!((meta.caches[1].bytes_req_max, meta.caches[2].bytes_req_max), (32, 40));
        let rewrite = Rewrite::new(&changes, &meta);
        let cache = |bytes_req| {
            let mut event = Event { bytes_req, ..kmalloc(1) };
            rewrite.apply(&mut event);
            event.cache
        };
        assert_eq!([16, 17, 32, 33, 64, 65].map(cache), [NONE, 1, 1, 2, 2, NONE]);
    }

    #[test]
    fn undoing_is_the_identity() {
        let changes = Changes::default().dedicate("mine", vec![0, 1]).undedicate("mine");
        let rewrite = Rewrite::new(&changes, &changes.meta(&meta()));
        for site in [0, 1] {
            let mut event = kmalloc(site);
            rewrite.apply(&mut event);
            assert_eq!(event, kmalloc(site));
        }
    }

    #[test]
    fn a_cache_undone_goes_to_kmalloc() {
        let changes = Changes::default().undedicate("dentry");
        let rewrite = Rewrite::new(&changes, &changes.meta(&meta()));
        let mut event = Event { kind: Kind::KmemCacheAlloc, cache: 0, ..kmalloc(0) };
        rewrite.apply(&mut event);
        assert_eq!(event, kmalloc(0));
    }
}
