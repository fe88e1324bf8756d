//! What could be otherwise: caches of their own for call sites, other kmalloc classes, other tunables.
//!
//! # How it works
//!
//! A [`Changes`] is plain data and adds up: [`Changes::dedicate`] and its siblings check what they are told
//! against the trace, and [`Rewrite`] then changes events on their way to the engine. So a what-if is a replay
//! of the trace in which those events had been rewritten by hand, to the byte, and undoing a change is a
//! change like any other.

use slablab_kmem::Tunables;
use slablab_trace::{Cache, Event, Kind, Meta, NONE, Site};

/// Changes to what the recorded kernel did; none by default.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// Caches made for kmalloc call sites
    pub dedicated: Vec<Dedicated>,
    /// What `dedicated` has to be
    pub dedication: Dedication,
    /// Caches, by name, whose objects come from kmalloc instead
    pub undedicated: Vec<String>,
    /// kmalloc size classes in bytes, rising; the recorded kernel's if `None`
    pub classes: Option<Vec<u32>>,
    /// Copies of each kmalloc class, chosen by call site; the recorded kernel's if `None`
    pub buckets: Option<u32>,
    /// Whether caches that are alike share slabs
    pub sharing: Sharing,
    /// Tunables of all caches
    pub tunables: Tunables,
}

/// Which call sites the dedicated caches are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dedication {
    /// Those that somebody named: each cache must have a site that calls kmalloc
    #[default]
    Named,
    /// Every one: those that do not call kmalloc are passed over
    Every,
}

/// Whether caches that are alike share slabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sharing {
    /// As recorded: the trace names caches as they were merged
    #[default]
    Recorded,
    /// Caches that Linux would merge are merged, dedicated ones among them
    Merged,
}

/// A cache made for kmalloc call sites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dedicated {
    /// Its name
    pub name: String,
    /// The call sites, as places in [`Meta::sites`]
    pub sites: Vec<u32>,
    /// Its alignment in bytes; 0 for the default
    pub align: u32,
}

impl Changes {
    /// Returns whether nothing is changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.dedicated.is_empty()
            && self.undedicated.is_empty()
            && self.classes.is_none()
            && self.buckets.is_none()
            && self.sharing == Sharing::Recorded
            && self.tunables == Tunables::default()
    }

    /// Adds a cache `name` for these call sites.
    #[must_use]
    pub fn dedicate(mut self, name: impl Into<String>, sites: Vec<u32>) -> Self {
        self.dedicated.push(Dedicated { name: name.into(), sites, align: 0 });
        self
    }

    /// Gives every kmalloc site of the trace a cache, called like it and aligned so; 0 for the default.
    #[must_use]
    pub fn dedicate_every(mut self, meta: &Meta, align: u32) -> Self {
        let dedicated =
            |(i, site): (u32, &Site)| Dedicated { name: site.name.clone(), sites: vec![i], align };
        self.dedicated = (0..).zip(&meta.sites).map(dedicated).collect();
        self.dedication = Dedication::Every;
        self
    }

    /// Lets the objects of the cache `name` come from kmalloc.
    #[must_use]
    pub fn undedicate(mut self, name: impl Into<String>) -> Self {
        self.undedicated.push(name.into());
        self
    }

    /// Returns the metadata of the trace as it would be had the changes been recorded.
    pub(crate) fn meta(&self, recorded: &Meta) -> Meta {
        let mut meta = recorded.clone();
        for dedicated in &self.dedicated {
            let sizes = dedicated.sites.iter().filter_map(|site| meta.sites.get(*site as usize));
            let bytes_req_max = sizes.map(|site: &Site| site.bytes_req_max).max().unwrap_or(0);
            match meta.caches.iter_mut().find(|cache| cache.name == dedicated.name) {
                Some(cache) => cache.bytes_req_max = cache.bytes_req_max.max(bytes_req_max),
                None => meta.caches.push(Cache {
                    name: dedicated.name.clone(),
                    bytes_req_max,
                    ..Cache::default()
                }),
            }
        }
        meta
    }

    /// Returns what is asked for the cache `name`, if it is one that the changes make.
    pub(crate) fn dedicated(&self, name: &str) -> Option<&Dedicated> {
        self.dedicated.iter().find(|dedicated| dedicated.name == name)
    }
}

/// Changes made to each event on its way to the engine.
#[derive(Debug, Clone)]
pub(crate) struct Rewrite {
    /// The cache that a site's kmallocs go to, [`NONE`] to leave them
    by_site: Vec<u32>,
    /// Whether a cache's objects come from kmalloc
    to_kmalloc: Vec<bool>,
    /// Whether any event changes
    active: bool,
}

impl Rewrite {
    /// Prepares the changes; `meta` is [`Changes::meta`]'s.
    pub(crate) fn new(changes: &Changes, meta: &Meta) -> Self {
        let cache = |name: &str| meta.caches.iter().position(|cache| cache.name == name);
        let mut by_site = vec![NONE; meta.sites.len()];
        for dedicated in &changes.dedicated {
            let id = cache(&dedicated.name).expect("Changes::meta added it") as u32;
            for site in &dedicated.sites {
                by_site[*site as usize] = id;
            }
        }
        let mut to_kmalloc = vec![false; meta.caches.len()];
        for id in changes.undedicated.iter().filter_map(|name| cache(name)) {
            to_kmalloc[id] = true;
        }
        let active = !changes.dedicated.is_empty() || !changes.undedicated.is_empty();
        Self { by_site, to_kmalloc, active }
    }

    /// Changes an allocation.
    #[inline]
    pub(crate) fn apply(&self, event: &mut Event) {
        if !self.active {
            return;
        }
        let recorded = if event.kind == Kind::Kmalloc { NONE } else { event.cache };
        let cache = self.cache_of(event.site as usize, recorded);
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

    fn meta() -> Meta {
        let site = |name: &str| Site { name: name.into(), bytes_req_max: 40, ..Site::default() };
        let cache = Cache { name: "dentry".into(), bytes_req_max: 192, ..Cache::default() };
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
