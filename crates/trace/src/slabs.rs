//! The running kernel's own numbers about its slab caches: `/proc/slabinfo` and `/sys/kernel/slab`.
//!
//! Linux counterpart: `mm/slab_common.c` (slabinfo 2.1), `mm/slub.c` (sysfs attributes) @ 6.1.

use std::collections::BTreeMap;
use std::path::Path;

use slablab_linux::SlabInfo;

use crate::meta::{SlabSnapshot, SlubCache};

/// The attributes that are kept: what decides geometry and behaviour. Counters of slabs and objects
/// are not, as reading them stops allocation on each cache in turn; slabinfo has them.
const NUMBERS: [&str; 20] = [
    "align",
    "cache_dma",
    "cpu_partial",
    "destroy_by_rcu",
    "hwcache_align",
    "min_partial",
    "object_size",
    "objs_per_slab",
    "order",
    "poison",
    "reclaim_account",
    "red_zone",
    "remote_node_defrag_ratio",
    "sanity_checks",
    "sheaf_capacity",
    "slab_size",
    "skip_kfence",
    "store_user",
    "trace",
    "usersize",
];

/// Reads the state of all caches. What this user or kernel does not give is left empty.
pub(crate) fn snapshot() -> SlabSnapshot {
    SlabSnapshot {
        slabinfo: std::fs::read_to_string("/proc/slabinfo").unwrap_or_default(),
        caches: sysfs_caches(Path::new("/sys/kernel/slab")),
        ..SlabSnapshot::default()
    }
}

/// Reads a directory like `/sys/kernel/slab`: a directory per cache, a link per alias.
fn sysfs_caches(root: &Path) -> Vec<SlubCache> {
    let mut caches = BTreeMap::new();
    let mut aliases = Vec::new();
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
            let target = std::fs::read_link(entry.path()).ok();
            let target = target.as_deref().and_then(Path::file_name);
            aliases.extend(target.map(|target| (target.to_string_lossy().into_owned(), name)));
        } else {
            caches.insert(name.clone(), sysfs_cache(name, &entry.path()));
        }
    }
    aliases.sort();
    for (target, alias) in aliases {
        if let Some(cache) = caches.get_mut(&target) {
            cache.aliases.push(alias);
        }
    }
    caches.into_values().collect()
}

fn sysfs_cache(name: String, directory: &Path) -> SlubCache {
    let read = |attribute: &str| std::fs::read_to_string(directory.join(attribute)).ok();
    // cpu_partial may be followed by more than the number: the first word is it.
    let number = |text: String| text.split_ascii_whitespace().next()?.parse().ok();
    let numbers = NUMBERS
        .iter()
        .filter_map(|&attribute| Some((attribute.to_owned(), read(attribute).and_then(number)?)))
        .collect();
    let ctor = read("ctor").unwrap_or_default().trim().to_owned();
    SlubCache { name, aliases: Vec::new(), numbers, ctor }
}

impl SlabSnapshot {
    /// Returns the lines of the slabinfo text that can be read, in its order.
    pub fn slabinfo(&self) -> impl Iterator<Item = SlabInfo<'_>> {
        self.slabinfo.lines().skip(2).filter_map(SlabInfo::parse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabinfo_lines_are_read_and_others_passed_over() {
        let slabinfo = "slabinfo - version: 2.1\n# name <active_objs>\n\
            filp 1216 1323 192 21 1 : tunables 0 0 0 : slabdata 63 64 0\nbroken\n";
        let snapshot = SlabSnapshot { slabinfo: slabinfo.into(), ..SlabSnapshot::default() };
        let lines: Vec<_> = snapshot.slabinfo().collect();
        assert_eq!(lines.len(), 1);
        assert_eq!((lines[0].name, lines[0].objsize, lines[0].num_slabs), ("filp", 192, 64));
    }

    #[test]
    fn links_are_aliases_of_the_directory_they_point_at() {
        let root = tempfile::tempdir().unwrap();
        let cache = root.path().join(":0000064");
        std::fs::create_dir(&cache).unwrap();
        std::fs::write(cache.join("object_size"), "64\n").unwrap();
        std::fs::write(cache.join("cpu_partial"), "120 C0=1\n").unwrap();
        std::os::unix::fs::symlink(":0000064", root.path().join("pid")).unwrap();
        let caches = sysfs_caches(root.path());
        let snapshot = SlabSnapshot { caches, ..SlabSnapshot::default() };
        let cache = snapshot.cache("pid").unwrap();
        assert_eq!(cache.name, ":0000064");
        assert_eq!(
            (cache.number("object_size"), cache.number("cpu_partial")),
            (Some(64), Some(120))
        );
        assert_eq!(cache.number("order"), None);
    }
}
