//! Names caches that several names share.
//!
//! # How it works
//! A kernel that merges slab caches which are alike calls all of them by the name that was created
//! first. So objects of one subsystem stand under the name of another (`pool_workqueue` for socket buffers).
//! `/sys/kernel/slab` tells which names share a cache. Among these names the importer takes the one whose words
//! begin most like words of the symbols of the cache's call sites. Each symbol counts as often as it allocates:
//! `skbuff_head_cache` and `__alloc_skb+0x4d` have `skb`. Where nothing is in common, the kernel's own name
//! stays.

use crate::meta::{RecordedCache, SlubCache};
use crate::{Meta, NONE, TraceWriter};

/// Fewer letters in common are chance.
const COMMON_MIN: usize = 3;

/// Words of half of all names: having them in common tells nothing.
const EMPTY_WORDS: [&str; 9] =
    ["alloc", "cache", "kmem", "kmalloc", "create", "init", "node", "struct", "free"];

/// Which cache each call site allocates from, and how often.
#[derive(Debug, Default)]
pub(super) struct SiteCaches(Vec<(u32, u64)>);

impl SiteCaches {
    /// Counts an allocation. A call site belongs to the cache that it used first: hardly any has two.
    #[inline]
    pub(super) fn count(&mut self, site: u32, cache: u32) {
        if site == NONE {
            return;
        }
        let site = site as usize;
        if site >= self.0.len() {
            self.0.resize(site + 1, (NONE, 0));
        }
        let (first, allocs) = &mut self.0[site];
        if *first == NONE {
            *first = cache;
        }
        *allocs += u64::from(*first == cache);
    }

    /// Gives the caches of `writer` the names that readers look for, by what `meta` says of the kernel's.
    pub(super) fn name_merged(&self, meta: &Meta, writer: &mut TraceWriter) {
        let snapshots = || meta.slabs_start.iter().chain(&meta.slabs_end);
        for id in 0..writer.caches_mut().len() {
            let recorded = writer.caches_mut()[id].name.clone();
            // What was imported before keeps the names that it got then.
            let before = meta.caches.iter().find(|cache| cache.recorded_name() == recorded);
            let named = match before {
                Some(before) => Some((before.name.clone(), before.aliases.clone())),
                None if !meta.caches.is_empty() => None,
                None => snapshots()
                    .find_map(|snapshot| snapshot.cache(&recorded))
                    .and_then(|known| self.telling(id as u32, &recorded, known, writer)),
            };
            let Some((name, aliases)) = named else { continue };
            let caches = writer.caches_mut();
            // A name stands for one cache, also where the kernel made another of that name later.
            if name == recorded || caches.iter().all(|cache| cache.name != name) {
                let recorded = if name == recorded { String::new() } else { recorded };
                let counts = std::mem::take(&mut caches[id]);
                caches[id] = RecordedCache { name, recorded, aliases, ..counts };
            }
        }
    }

    /// Returns the most telling name of the cache `id`, and all its names with that first.
    fn telling(
        &self,
        id: u32,
        recorded: &str,
        known: &SlubCache,
        writer: &TraceWriter,
    ) -> Option<(String, Vec<String>)> {
        if known.aliases.len() < 2 {
            return None;
        }
        let sites = || self.0.iter().zip(writer.sites()).filter(|((cache, _), _)| *cache == id);
        let score = |alias: &String| {
            let of_sites =
                sites().map(|((_, allocs), site)| common(alias, &site.name) as u64 * allocs);
            (of_sites.sum::<u64>(), alias == recorded)
        };
        let mut aliases: Vec<_> = known.aliases.iter().map(|alias| (score(alias), alias)).collect();
        // Stable, so that the order of the alphabet stays where nothing else decides.
        aliases.sort_by_key(|&(score, _)| std::cmp::Reverse(score));
        let aliases: Vec<String> = aliases.into_iter().map(|(_, alias)| alias.clone()).collect();
        Some((aliases[0].clone(), aliases))
    }
}

/// Returns how many letters a word of `alias` and one of the symbol in `site` begin with alike, 0 for too few.
fn common(alias: &str, site: &str) -> usize {
    let symbol = site.split(['+', ' ', '.']).next().unwrap_or_default();
    let words = alias.split(['_', '-']).filter(|word| !EMPTY_WORDS.contains(word));
    let alike = words.flat_map(|word| {
        let of_symbol = symbol.split('_');
        of_symbol.map(|other| word.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count())
    });
    alike.filter(|&letters| letters >= COMMON_MIN).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meta::SlabSnapshot;

    fn named(sites: &[(&str, u64)], aliases: &[&str]) -> RecordedCache {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = TraceWriter::create(folder.path().join("t")).unwrap();
        let mut counts = SiteCaches::default();
        let id = writer.cache("pool_workqueue");
        for &(name, allocs) in sites {
            let site = writer.site(name, 0);
            (0..allocs).for_each(|_| counts.count(site, id));
        }
        let aliases = aliases.iter().map(|&alias| alias.to_owned()).collect();
        let cache = SlubCache { name: ":0000512".into(), aliases, ..SlubCache::default() };
        let slabs = SlabSnapshot { caches: vec![cache], ..SlabSnapshot::default() };
        let meta = Meta { slabs_start: Some(slabs), ..Meta::default() };
        counts.name_merged(&meta, &mut writer);
        writer.caches_mut()[0].clone()
    }

    #[test]
    fn a_merged_cache_is_called_as_those_who_use_it_know_it() {
        let aliases = ["mem_cgroup_per_node", "pool_workqueue", "sgpool-16", "skbuff_fclone_cache"];
        let skb = ("__alloc_skb+0x4d", 300);
        let cache = named(&[skb, ("alloc_and_link_pwqs+0x1", 3)], &aliases);
        assert_eq!((cache.name.as_str(), cache.recorded_name()), (aliases[3], "pool_workqueue"));
        assert_eq!(cache.aliases, [aliases[3], aliases[1], aliases[0], aliases[2]]);
        // The kernel knows best; a cache of its own has one name.
        let cache = named(&[("f+0x1", 5)], &aliases);
        assert_eq!((cache.name.as_str(), cache.recorded.as_str()), ("pool_workqueue", ""));
        assert_eq!(named(&[skb], &["pool_workqueue"]).aliases, [""; 0]);
    }

    #[test]
    fn words_that_all_names_have_are_nothing_in_common() {
        assert_eq!(common("skbuff_head_cache", "__alloc_skb+0x4d"), 3);
        assert_eq!(common("kernfs_node_cache", "__kernfs_new_node+0x63"), 6);
        assert_eq!(common("bio-256", "bio_alloc_bioset+0xd0 [dm]"), 3);
        assert_eq!(common("kmem_cache_node", "kmem_cache_alloc_node+0x5"), 0);
        assert_eq!(common("ab", "ab"), 0);
        assert_eq!(common("damon_region", "jbd2_transaction+0x5"), 0);
    }
}
