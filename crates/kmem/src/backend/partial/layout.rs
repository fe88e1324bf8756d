//! Orders of a cache's slabs.

use alloc::string::ToString;

use crate::backend::ops::CacheLayout;
use crate::cache::SlabFlags;
use crate::cache::args::CacheArgs;
use crate::cache::core::Core;
use crate::cache::geometry;
use crate::error::Error;
use crate::ids::Order;

/// Bytes of a free pointer.
const LINK_BYTES: u32 = 8;

/// Computes sizes and orders, for `min_objects` and up to `order_max` where an object allows it. It can also take
/// those that another kernel reported, whose order only counts if `order_max` is that of this machine. Checks need
/// room beside an object in addition to those.
pub(crate) fn plan(
    core: &Core,
    args: &CacheArgs,
    min_objects: u32,
    order_max: Order,
) -> Result<CacheLayout, Error> {
    let error = |what| Error::Cache { name: args.name.to_string(), what };
    let mut layout = geometry::object_layout(core.setup.arch, args);
    let (arch, mut order) = (core.setup.arch, None);
    if let Some(given) = args.geometry {
        if given.slab_size < layout.object_size || !given.slab_size.is_multiple_of(8) {
            return Err(error("slab_size has to be a multiple of 8 and hold the object"));
        }
        let debug = SlabFlags::RED_ZONE | SlabFlags::POISON | SlabFlags::STORE_USER;
        if args.flags.any(debug) {
            layout.size = given.slab_size.max(layout.size);
        } else {
            let keeps_contents = args.ctor.is_some() && args.freeptr_offset.is_none();
            if keeps_contents && layout.free_offset + arch.word_bytes > given.slab_size {
                let what = "slab_size has no room behind what the constructor made: say where a \
                            free pointer may be (freeptr_offset)";
                return Err(error(what));
            }
            layout.size = given.slab_size;
            layout.free_offset = layout.free_offset.min(given.slab_size - LINK_BYTES);
        }
        order = (order_max == core.setup.order_max)
            .then_some(given.order)
            .flatten()
            .map(|order| arch.order(order));
    }
    let order_min = arch
        .order_for_bytes(u64::from(layout.size))
        .ok_or_else(|| error("an object is larger than the largest block of pages (4 MiB)"))?;
    let chosen = || geometry::calculate_order(arch, layout.size, min_objects, order_max);
    let asked =
        core.tunable(args, "order").map(|order| arch.order(Order::saturating(order))).or(order);
    let order = asked.or_else(chosen).unwrap_or(order_min).max(order_min);
    if order > Order::MAX || geometry::objects_in(order, layout.size) > geometry::OBJECTS_MAX {
        return Err(error("a slab of that order would hold more than 32767 objects"));
    }
    let objects = geometry::objects_in(order, layout.size);
    Ok(CacheLayout { layout, order, order_min, objects })
}
