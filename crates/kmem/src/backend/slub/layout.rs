//! Orders and tunables of a cache under SLUB.

use alloc::string::ToString;

use super::super::ops::Plan;
use crate::cache::args::CacheArgs;
use crate::cache::core::Core;
use crate::cache::geometry;
use crate::cache::table::Cache;
use crate::error::Error;
use crate::ids::Order;

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
    if let Some(asked) = args.tunables.or(core.setup.tunables).order {
        order = asked;
    }
    let order = order.max(Order::for_bytes(u64::from(layout.size)).unwrap_or(order_min));
    if order > Order::MAX || geometry::objects_in(order, layout.size) > geometry::OBJECTS_MAX {
        return Err(error("a slab of that order would hold more than 32767 objects"));
    }
    let objects = geometry::objects_in(order, layout.size);
    Ok(Plan { layout, order, order_min: order_min.min(order), objects })
}

/// Sets `cpu_partial` (in slabs) and `min_partial`.
pub(super) fn set_knobs(core: &Core, cache: &Cache, args: &CacheArgs) {
    let tunables = args.tunables.or(core.setup.tunables);
    let size = cache.size.get();
    let partial = tunables.cpu_partial.unwrap_or_else(|| geometry::cpu_partial_objects(size));
    // Slabs on the list are half full on average: `slub_set_cpu_partial`.
    cache.knob_a.set((partial * 2).div_ceil(cache.objects.get().max(1)));
    cache.knob_b.set(tunables.min_partial.unwrap_or_else(|| geometry::min_partial(size)));
}
