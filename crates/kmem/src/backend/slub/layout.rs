//! Orders and tunables of a cache under SLUB.

use alloc::string::ToString;

use crate::backend::ops::Plan;
use crate::cache::args::CacheArgs;
use crate::cache::core::Core;
use crate::cache::geometry;
use crate::cache::table::Cache;
use crate::error::Error;
use crate::ids::Order;
use crate::raw::local::LocalU32;
use crate::raw::zeroed::zeroed_struct;

/// Computes sizes and orders, or takes those that another kernel reported.
pub(super) fn plan(core: &Core, args: &CacheArgs) -> Result<Plan, Error> {
    let error = |what| Error::Cache { name: args.name.to_string(), what };
    let mut layout = geometry::object_layout(args);
    let order_min = Order::for_bytes(u64::from(layout.size))
        .ok_or_else(|| error("an object is larger than the largest block of pages (4 MiB)"))?;
    let (min, max) = (core.setup.min_objects, core.setup.order_max);
    let mut order = geometry::calculate_order(layout.size, min, max).unwrap_or(order_min);
    if let Some(given) = args.geometry {
        if given.slab_size < layout.object_size || !given.slab_size.is_multiple_of(8) {
            return Err(error("slab_size has to be a multiple of 8 and hold the object"));
        }
        layout.size = given.slab_size;
        layout.free_offset = layout.free_offset.min(given.slab_size - 8);
        order = given.order;
    }
    if let Some(asked) = core.tunable(args, "order") {
        order = Order(asked as u8);
    }
    let order = order.max(Order::for_bytes(u64::from(layout.size)).unwrap_or(order_min));
    if order > Order::MAX || geometry::objects_in(order, layout.size) > geometry::OBJECTS_MAX {
        return Err(error("a slab of that order would hold more than 32767 objects"));
    }
    let objects = geometry::objects_in(order, layout.size);
    Ok(Plan { layout, order, order_min: order_min.min(order), objects })
}

zeroed_struct! {
    /// A cache's limits.
    #[derive(Debug)]
    pub(super) struct Limits {
        /// Slabs on a CPU's partial list (`cpu_partial_slabs`).
        pub(super) cpu_partial_slabs: LocalU32,
        /// Slabs that a node keeps on its list before it gives empty ones back.
        pub(super) min_partial: LocalU32,
    }
}

/// Returns the objects that a CPU's partial slabs may hold.
pub(super) fn cpu_partial(core: &Core, cache: &Cache, args: &CacheArgs) -> u32 {
    let asked = core.tunable(args, "cpu_partial");
    asked.unwrap_or_else(|| geometry::cpu_partial_objects(cache.size.get()))
}

/// Sets a cache's limits.
pub(super) fn set_limits(core: &Core, limits: &Limits, cache: &Cache, args: &CacheArgs) {
    // Slabs on the list are half full on average: `slub_set_cpu_partial`.
    let objects = cpu_partial(core, cache, args).saturating_mul(2);
    limits.cpu_partial_slabs.set(objects.div_ceil(cache.objects.get().max(1)));
    let asked = core.tunable(args, "min_partial");
    limits.min_partial.set(asked.unwrap_or_else(|| geometry::min_partial(cache.size.get())));
}
