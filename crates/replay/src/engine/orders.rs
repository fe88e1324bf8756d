//! The rule by which the recorded kernel chose the orders of its slabs: `slab_max_order` and `slab_min_objects`.
//!
//! # How it works
//! A trace has no kernel command line, but it has the orders of kmalloc's classes. Among the rules that give
//! all of these orders, the one most like the usual one is taken. If the trace has no orders, or no rule gives all of them,
//! the usual rule is taken. (With the usual rule a guest booted with `slab_max_order=0` was replayed with 37 slabs of 32 KiB
//! for `kmalloc-4k`, where it had 289 pages.) SLUB_TINY has another usual rule; where it has the rule of SLUB,
//! `slab_max_order=3` was set.
//!
//! Linux counterpart: `calculate_order` in `mm/slub.c` @ 6.12.

use slablab_kmem::geometry::{Arch, ORDER_MAX, calculate_order, min_objects};
use slablab_kmem::{BackendKind, Order};
use slablab_linux::KmallocCache;
use slablab_trace::{Meta, SlubCache};

use crate::change::changes::Changes;

/// Values of `slab_min_objects` that are told apart: sizes of classes are powers of two, except for two of
/// them.
const MIN_OBJECTS: [u32; 5] = [1, 2, 4, 8, 16];

/// The values set on the recorded kernel's command line, as far as they show; `None` stands for the
/// usual one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OrderRule {
    pub(crate) order_max: Option<u8>,
    pub(crate) min_objects: Option<u32>,
}

/// Returns the rule that a machine of this kind with `cpus` CPUs has if it is set as the recorded one
/// was.
pub(crate) fn recorded(kind: BackendKind, meta: &Meta, cpus: u32) -> OrderRule {
    use BackendKind::{Slub, SlubHybrid, SlubSheaves, SlubTiny};
    // The other allocators choose orders in ways of their own.
    if !matches!(kind, Slub | SlubHybrid | SlubSheaves | SlubTiny) {
        return OrderRule::default();
    }
    let classes = classes(meta);
    let arch = Changes::default().arch(meta);
    let gives_all = |rule: &OrderRule| {
        classes
            .iter()
            .all(|(size, order)| rule.order(arch, *size, cpus) == Some(arch.order(Order(*order))))
    };
    let Some(rule) = rules().find(gives_all) else { return OrderRule::default() };
    match kind {
        // SLUB's usual rule was set on this kernel, whose own rule gives another order.
        SlubTiny if has_slub_tiny(meta) => {
            OrderRule { order_max: rule.order_max.or(Some(ORDER_MAX.0)), ..rule }
        }
        _ => rule,
    }
}

/// Returns whether the recorded kernel has SLUB_TINY: it tells what its caches keep for a node, and nothing about CPUs.
/// Since 7.0 SLUB without sysfs tells as little.
fn has_slub_tiny(meta: &Meta) -> bool {
    if BackendKind::of_release(&meta.kernel_release) == Some(BackendKind::SlubSheaves) {
        return false;
    }
    let snapshots = meta.slabs_start.iter().chain(&meta.slabs_end);
    let mut caches = snapshots.flat_map(|snapshot| &snapshot.caches).peekable();
    caches.peek().is_some()
        && caches.all(|cache| {
            cache.number("min_partial").is_some()
                && cache.number("cpu_partial").or(cache.number("sheaf_capacity")).is_none()
        })
}

/// Returns all rules, the usual one first.
fn rules() -> impl Iterator<Item = OrderRule> {
    let orders = || [None].into_iter().chain((0..ORDER_MAX.0).rev().map(Some));
    let objects = [None].into_iter().chain(MIN_OBJECTS.iter().copied().rev().map(Some));
    objects.flat_map(move |min_objects| {
        orders().map(move |order_max| OrderRule { order_max, min_objects })
    })
}

impl OrderRule {
    fn order(self, arch: Arch, size: u32, cpus: u32) -> Option<Order> {
        let objects = self.min_objects.unwrap_or_else(|| min_objects(cpus));
        calculate_order(arch, size, objects, self.order_max.map_or(ORDER_MAX, Order))
    }
}

/// Returns the bytes of an object and the order, in pages, of kmalloc's classes as the recorded kernel had them.
fn classes(meta: &Meta) -> Vec<(u32, u8)> {
    let snapshots = meta.slabs_start.iter().chain(&meta.slabs_end);
    let known = |cache: &SlubCache| {
        let mut names = cache.aliases.iter().chain([&cache.name]);
        if !names.any(|name| KmallocCache::parse(name).is_some_and(|cache| cache.is_plain())) {
            return None;
        }
        // SLAB has no such number, and other rules.
        cache.number("min_partial")?;
        let size = u32::try_from(cache.number("slab_size")?).ok().filter(|size| *size >= 8)?;
        Some((size, u8::try_from(cache.number("order")?).ok()?))
    };
    snapshots.flat_map(|snapshot| &snapshot.caches).filter_map(known).collect()
}

#[cfg(test)]
mod tests {
    use slablab_trace::SlabSnapshot;

    use super::*;

    /// A kernel for one CPU with `kmalloc-1k` to `kmalloc-8k` in slabs of these orders.
    fn meta(orders: [u64; 4], beside: &str) -> Meta {
        let cache = |(size, order): (u64, u64)| {
            let numbers = [("slab_size", size << 10), ("order", order), (beside, 0)];
            SlubCache {
                name: format!("kmalloc-{size}k"),
                numbers: numbers.map(|(name, value)| (name.to_owned(), value)).into(),
                ..SlubCache::default()
            }
        };
        let mut snapshot = SlabSnapshot::default();
        snapshot.caches = [1, 2, 4, 8].into_iter().zip(orders).map(cache).collect();
        Meta { cpus: 1, slabs_start: Some(snapshot), ..Meta::default() }
    }

    fn rule(orders: [u64; 4]) -> (Option<u8>, Option<u32>) {
        let rule = recorded(BackendKind::Slub, &meta(orders, "min_partial"), 1);
        (rule.order_max, rule.min_objects)
    }

    #[test]
    fn the_orders_of_classes_tell_what_was_set() {
        assert_eq!(rule([1, 2, 3, 3]), (None, None));
        assert_eq!(rule([0, 0, 0, 1]), (Some(0), None));
        assert_eq!(rule([1, 1, 1, 1]), (Some(1), None));
        assert_eq!(rule([0, 1, 2, 3]), (None, Some(4)));
        assert_eq!(rule([0, 1, 2, 2]), (Some(2), Some(4)));
        assert_eq!(rule([0, 0, 0, 1]), (Some(0), None));
        // No rule gives these orders.
        assert_eq!(rule([3, 0, 0, 1]), (None, None));
    }

    /// A recording of SLUB_TINY with `slab_max_order=3` used to be replayed with its usual order,
    /// 1.
    #[test]
    fn slub_tiny_is_replayed_with_the_larger_order_that_was_set() {
        let rule = |kind, orders, beside| recorded(kind, &meta(orders, beside), 1).order_max;
        let tiny = BackendKind::SlubTiny;
        assert_eq!(rule(tiny, [1, 2, 3, 3], "min_partial"), Some(3));
        assert_eq!(rule(tiny, [1, 1, 1, 1], "min_partial"), Some(1));
        assert_eq!(rule(BackendKind::Slub, [1, 2, 3, 3], "min_partial"), None);
        // SLUB also tells what is kept for a CPU; it is not known what SLUB_TINY would have had
        // there.
        let mut slub = meta([1, 2, 3, 3], "min_partial");
        let caches = &mut slub.slabs_start.as_mut().unwrap().caches;
        caches.iter_mut().for_each(|cache| _ = cache.numbers.insert("cpu_partial".to_owned(), 0));
        assert_eq!(recorded(tiny, &slub, 1).order_max, None);
        let mut later = meta([1, 2, 3, 3], "min_partial");
        later.kernel_release = "7.3.4".to_owned();
        assert_eq!(recorded(tiny, &later, 1).order_max, None);
    }

    #[test]
    fn where_nothing_is_known_the_rule_is_the_usual_one() {
        let slab = meta([0, 0, 0, 1], "limit");
        assert_eq!(recorded(BackendKind::Slub, &slab, 1), OrderRule::default());
        assert_eq!(recorded(BackendKind::Slub, &Meta::default(), 1), OrderRule::default());
        let dense = recorded(BackendKind::Dense, &meta([0, 0, 0, 1], "min_partial"), 1);
        assert_eq!(dense, OrderRule::default());
    }
}
