//! Sizes of objects and orders of slabs, as Linux computes them.
//!
//! # How it works
//! An object is laid out as `[left red zone] object [red zone] [free pointer] [two sites] [red
//! zone]`, each part only where flags ask for it, and padded to the alignment. A slab is as many
//! pages as hold `min_objects` with little waste: a 16th at most, else an 8th, a 4th, a half.
//!
//! # Invariants
//! `object_size <= inuse <= size`, `size % align == 0`, `objects = slab bytes / size <= 32767`.
//!
//! Linux counterpart: `calculate_alignment` in `mm/slab_common.c`, `calculate_sizes` and
//! `calculate_order` in `mm/slub.c` @ 6.18 (6.1 differs where noted).

use super::args::CacheArgs;
use super::flags::SlabFlags;
use crate::ids::{CACHE_LINE, Order, PAGE_SIZE};

/// Smallest alignment of any object: a pointer (`ARCH_SLAB_MINALIGN`).
pub const ALIGN_MIN: u32 = 8;
/// Objects in a slab at most: they are counted in 15 bits (`MAX_OBJS_PER_PAGE`).
pub const OBJECTS_MAX: u32 = 32767;
/// Highest order chosen for little waste (`slub_max_order`, `PAGE_ALLOC_COSTLY_ORDER`).
pub const ORDER_MAX: Order = Order(3);
/// Bytes kept for one call site of `SLAB_STORE_USER`: site and CPU.
pub const TRACK_BYTES: u32 = 8;

/// The layout of a cache's objects, in bytes from the start of an object's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectLayout {
    /// Bytes the caller uses.
    pub object_size: u32,
    /// Alignment.
    pub align: u32,
    /// Bytes up to the meta data that follows the object.
    pub inuse: u32,
    /// Bytes from one object to the next.
    pub size: u32,
    /// Where the free pointer is, from the start of the object.
    pub free_offset: u32,
    /// Bytes before the object (left red zone).
    pub left_pad: u32,
    /// Where the red zone behind the object ends, from the start of the object; 0: none.
    pub red_end: u32,
}

/// Returns the alignment of a cache (Linux: `calculate_alignment`).
pub fn alignment(flags: SlabFlags, align: u32, object_size: u32) -> u32 {
    let mut result = align.max(ALIGN_MIN);
    if flags.has(SlabFlags::HWCACHE_ALIGN) {
        // Small objects share a line, as many as fit whole.
        let mut line = CACHE_LINE as u32;
        while object_size <= line / 2 {
            line /= 2;
        }
        result = result.max(line);
    }
    result.next_multiple_of(ALIGN_MIN)
}

/// Lays an object out for SLUB (Linux: `calculate_sizes`).
pub fn object_layout(args: &CacheArgs) -> ObjectLayout {
    layout(args, Links::InObject)
}

/// Lays an object out for an allocator that keeps its free lists elsewhere.
pub(crate) fn object_layout_unlinked(args: &CacheArgs) -> ObjectLayout {
    layout(args, Links::Elsewhere)
}

/// Where free objects are linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Links {
    InObject,
    Elsewhere,
}

fn layout(args: &CacheArgs, links: Links) -> ObjectLayout {
    let flags = args.flags;
    let align = alignment(flags, args.align, args.object_size);
    let mut size = args.object_size.next_multiple_of(ALIGN_MIN);
    if flags.has(SlabFlags::RED_ZONE) && size == args.object_size {
        size += ALIGN_MIN;
    }
    let inuse = size;
    let keeps_contents = flags.has(SlabFlags::TYPESAFE_BY_RCU) || args.ctor.is_some();
    let outside = (keeps_contents && args.freeptr_offset.is_none())
        || flags.has(SlabFlags::POISON)
        || (flags.has(SlabFlags::RED_ZONE) && args.object_size < ALIGN_MIN);
    let free_offset = if links == Links::Elsewhere {
        0
    } else if outside {
        size += ALIGN_MIN;
        size - ALIGN_MIN
    } else if let (true, Some(offset)) = (keeps_contents, args.freeptr_offset) {
        offset
    } else {
        // In the middle, away from an overrun of either neighbour.
        (args.object_size / 2) & !(ALIGN_MIN - 1)
    };
    if flags.has(SlabFlags::STORE_USER) {
        size += 2 * TRACK_BYTES;
    }
    let mut left_pad = 0;
    if flags.has(SlabFlags::RED_ZONE) {
        size += ALIGN_MIN;
        left_pad = ALIGN_MIN.next_multiple_of(align);
        size += left_pad;
    }
    let size = size.next_multiple_of(align);
    ObjectLayout {
        object_size: args.object_size,
        align,
        inuse,
        size,
        free_offset,
        left_pad,
        red_end: if flags.has(SlabFlags::RED_ZONE) { inuse } else { 0 },
    }
}

/// Returns how many objects of `size` bytes a slab of `order` holds.
pub fn objects_in(order: Order, size: u32) -> u32 {
    (order.bytes() / u64::from(size)) as u32
}

/// Returns the least number of objects a slab should hold on a machine with that many CPUs
/// (`4 * (fls(cpus) + 1)`).
pub fn min_objects(cpus: u32) -> u32 {
    4 * (u32::BITS - cpus.leading_zeros() + 1)
}

/// Returns the order of a cache's slabs, or `None` if no block holds one object
/// (Linux 6.18: `calculate_order`).
pub fn calculate_order(size: u32, min_objects: u32, order_max: Order) -> Option<Order> {
    let most = objects_in(order_max, size).max(1);
    let wanted = min_objects.clamp(1, most);
    let order_min = Order::for_bytes(u64::from(wanted) * u64::from(size))?;
    if objects_in(order_min, size) > OBJECTS_MAX {
        return Order::for_bytes(u64::from(size) * u64::from(OBJECTS_MAX)).map(|o| Order(o.0 - 1));
    }
    for fraction in [16, 8, 4, 2] {
        for order in (order_min.0..=order_max.0).map(Order) {
            if order.bytes() % u64::from(size) <= order.bytes() / fraction {
                return Some(order);
            }
        }
    }
    Order::for_bytes(u64::from(size))
}

/// Returns the number of objects that per-CPU partial slabs may hold (Linux: `set_cpu_partial`).
pub fn cpu_partial_objects(size: u32) -> u32 {
    match size {
        _ if u64::from(size) >= PAGE_SIZE => 6,
        1024.. => 24,
        256.. => 52,
        _ => 120,
    }
}

/// Returns the number of empty slabs a node keeps: `log2(size) / 2`, 5 to 10.
pub fn min_partial(size: u32) -> u32 {
    (size.ilog2() / 2).clamp(5, 10)
}
