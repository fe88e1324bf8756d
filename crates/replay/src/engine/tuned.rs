//! Values set for the recorded kernel's caches: `cpu_partial` and `min_partial`, by files under `/sys/kernel/slab`, at boot
//! or in the configuration.
//!
//! # How it works
//! A number that the kernel would not have chosen itself was set, and a cache of a replay gets it, too,
//! unless changes differ. Values that all caches have alike are set for the machine, so that new caches have them, and
//! caches with them may be merged. (A guest that had booted with no empty slabs kept, `min_partial` 0, was replayed with 25
//! slabs of `task_struct` where it had 21.)
//!
//! Linux counterpart: `set_cpu_partial`, `set_min_partial` in `mm/slub.c` @ 6.12.

use slablab_kmem::geometry::{cpu_partial_objects, min_partial};
use slablab_kmem::{BackendKind, KmallocConfig, Tunables};
use slablab_linux::is_kmalloc_name;
use slablab_trace::{Meta, SlubCache};

use crate::change::changes::{Changes, Dedicated};

/// Returns the tunables of a cache of the trace: those of the changes, and those that were set on the recorded kernel.
pub(crate) fn of_cache(
    kind: BackendKind,
    meta: &Meta,
    changes: &Changes,
    name: &str,
    made_by: Option<&Dedicated>,
) -> Tunables {
    let own = changes.cache_tunables.get(name).cloned().unwrap_or_default();
    let mut snapshots = meta.slabs_start.iter().chain(&meta.slabs_end);
    match snapshots.find_map(|snapshot| snapshot.cache(name)) {
        Some(cache) if made_by.is_none() => {
            let recorded = set_in(kind, meta, cache);
            let asked = |tunable| own.get(tunable).or(changes.tunables.get(tunable)).is_some();
            let recorded: Vec<_> = recorded.filter(|(tunable, _)| !asked(tunable)).collect();
            recorded.into_iter().fold(own, |all, (tunable, value)| all.with(tunable, value))
        }
        _ => own,
    }
}

/// Sets the values that were set for the recorded kernel's kmalloc caches.
pub(crate) fn set_kmalloc(
    kind: BackendKind,
    meta: &Meta,
    changes: &Changes,
    to: &mut KmallocConfig,
) {
    let snapshots = meta.slabs_start.iter().chain(&meta.slabs_end);
    let caches = snapshots.flat_map(|snapshot| &snapshot.caches);
    let names = caches.flat_map(|cache| cache.aliases.iter().chain([&cache.name]));
    let mut names: Vec<&String> = names.filter(|name| is_kmalloc_name(name)).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let tunables = of_cache(kind, meta, changes, name, changes.dedicated(name));
        if tunables != Tunables::default() {
            to.tunables_by_name.retain(|(known, _)| known != name);
            to.tunables_by_name.push((name.clone(), tunables));
        }
    }
}

/// Returns the values that all caches of the recorded kernel have alike and would not have by
/// themselves.
pub(crate) fn of_all(kind: BackendKind, meta: &Meta) -> Tunables {
    let snapshots = meta.slabs_start.iter().chain(&meta.slabs_end);
    let caches: Vec<&SlubCache> = snapshots.flat_map(|snapshot| &snapshot.caches).collect();
    ["cpu_partial", "min_partial"].into_iter().fold(Tunables::default(), |all, tunable| {
        let mut numbers = caches.iter().filter_map(|cache| number(kind, meta, cache, tunable));
        let Some((first, usual)) = numbers.next() else { return all };
        let (mut is_alike, mut is_usual) = (true, first == usual);
        for (value, usual) in numbers {
            is_alike &= value == first;
            is_usual &= value == usual;
        }
        if is_alike && !is_usual { all.with(tunable, first) } else { all }
    })
}

/// Returns the numbers of a recorded cache that were set, except those that all caches have.
fn set_in(
    kind: BackendKind,
    meta: &Meta,
    cache: &SlubCache,
) -> impl Iterator<Item = (&'static str, u32)> {
    let of_all = of_all(kind, meta);
    ["cpu_partial", "min_partial"].into_iter().filter_map(move |tunable| {
        let (value, usual) = number(kind, meta, cache, tunable)?;
        (value != of_all.get(tunable).unwrap_or(usual)).then_some((tunable, value))
    })
}

/// Returns a number of a recorded cache beside the one that the kernel would choose; `None` where an allocator of this kind
/// has none.
fn number(
    kind: BackendKind,
    meta: &Meta,
    cache: &SlubCache,
    tunable: &'static str,
) -> Option<(u32, u32)> {
    use BackendKind::{Slub, SlubHybrid, SlubSheaves};
    let number = |attribute| cache.number(attribute).and_then(|n| u32::try_from(n).ok());
    let arch = Changes::default().arch(meta);
    let size = number("slab_size").unwrap_or(0).max(8);
    let usual = match (tunable, kind) {
        ("cpu_partial", Slub | SlubHybrid) => cpu_partial_objects(arch, size),
        // SLUB_TINY keeps nothing, and tells neither number of a cache.
        ("min_partial", Slub | SlubHybrid | SlubSheaves)
            if number("cpu_partial").or(number("sheaf_capacity")).is_some() =>
        {
            min_partial(size)
        }
        _ => return None,
    };
    Some((number(tunable)?, usual))
}

#[cfg(test)]
mod tests {
    use slablab_trace::SlabSnapshot;

    use super::*;

    fn meta(numbers: &[(&str, u64)]) -> Meta {
        let cache = |name: &str| SlubCache {
            name: name.to_owned(),
            numbers: numbers.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            ..SlubCache::default()
        };
        let mut usual = cache("usual");
        usual
            .numbers
            .extend([("cpu_partial", 52), ("min_partial", 5)].map(|(n, v)| (n.to_owned(), v)));
        let mut snapshot = SlabSnapshot::default();
        snapshot.caches = vec![cache("filp"), cache("kmalloc-cg-256"), usual];
        Meta { slabs_start: Some(snapshot), ..Meta::default() }
    }

    fn set(
        kind: BackendKind,
        numbers: &[(&str, u64)],
        changes: &Changes,
    ) -> Vec<(&'static str, u32)> {
        of_cache(kind, &meta(numbers), changes, "filp", None).iter().collect()
    }

    #[test]
    fn what_was_set_is_set_and_what_is_usual_is_not() {
        let (slub, none) = (BackendKind::Slub, Changes::default());
        let usual = [("slab_size", 256), ("cpu_partial", 52), ("min_partial", 5)];
        assert_eq!(set(slub, &usual, &none), []);
        let both = [("slab_size", 256), ("cpu_partial", 8), ("min_partial", 0)];
        assert_eq!(set(slub, &both, &none), [("cpu_partial", 8), ("min_partial", 0)]);
        let sheaves = [("slab_size", 256), ("sheaf_capacity", 0), ("min_partial", 0)];
        assert_eq!(set(BackendKind::SlubSheaves, &sheaves, &none), [("min_partial", 0)]);
        assert_eq!(set(BackendKind::SlubTiny, &both, &none), []);
        // A recording of SLUB_TINY tells nothing about SLUB.
        assert_eq!(set(slub, &[("slab_size", 256), ("min_partial", 0)], &none), []);
    }

    #[test]
    fn changes_go_before_what_was_set() {
        let both = [("slab_size", 256), ("cpu_partial", 8), ("min_partial", 0)];
        let mut changes = Changes::default();
        changes.tunables = changes.tunables.with("cpu_partial", 120);
        assert_eq!(set(BackendKind::Slub, &both, &changes), [("min_partial", 0)]);
        let own = Tunables::default().with("min_partial", 7);
        changes.cache_tunables.insert("filp".to_owned(), own);
        assert_eq!(set(BackendKind::Slub, &both, &changes), [("min_partial", 7)]);
        let mut kmalloc = KmallocConfig::default();
        set_kmalloc(BackendKind::Slub, &meta(&both), &changes, &mut kmalloc);
        let expected = Tunables::default().with("min_partial", 0);
        assert_eq!(kmalloc.tunables_by_name, [("kmalloc-cg-256".to_owned(), expected)]);
    }

    #[test]
    fn what_all_caches_have_is_set_of_the_machine() {
        let mut meta = meta(&[("slab_size", 256), ("cpu_partial", 0), ("min_partial", 0)]);
        let slabs = meta.slabs_start.as_mut().unwrap();
        slabs.caches.pop();
        let all = Tunables::default().with("cpu_partial", 0).with("min_partial", 0);
        assert_eq!(of_all(BackendKind::Slub, &meta), all);
        assert_eq!(
            of_cache(BackendKind::Slub, &meta, &Changes::default(), "filp", None),
            Tunables::default()
        );
        let none = Tunables::default();
        assert_eq!(of_all(BackendKind::SlubTiny, &meta), none);
        meta.slabs_start.as_mut().unwrap().caches[0].numbers.insert("min_partial".to_owned(), 5);
        assert_eq!(of_all(BackendKind::Slub, &meta), none.with("cpu_partial", 0));
    }
}
