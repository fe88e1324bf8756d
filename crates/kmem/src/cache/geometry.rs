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
use crate::ids::{CACHE_LINE, Order};

/// Smallest alignment of any object: an `unsigned long long` (`ARCH_SLAB_MINALIGN`).
pub const ALIGN_MIN: u32 = 8;
/// Objects in a slab at most: they are counted in 15 bits (`MAX_OBJS_PER_PAGE`).
pub const OBJECTS_MAX: u32 = 32767;
/// Highest order chosen for little waste, in the machine's pages (`slub_max_order`, `PAGE_ALLOC_COSTLY_ORDER`).
pub const ORDER_MAX: Order = Order(3);
/// Bytes kept for one call site of `SLAB_STORE_USER`: site and CPU.
pub const TRACK_BYTES: u32 = 8;

/// What geometry depends on beside the cache: sizes that differ between architectures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arch {
    /// Bytes of a pointer: 4 or 8.
    pub word_bytes: u32,
    /// A page's order in blocks of [`PAGE_SIZE`](crate::PAGE_SIZE): 0, 2 and 4 for 4, 16 and 64 KiB.
    pub page_order: Order,
}

impl Default for Arch {
    /// Eight-byte pointers and pages of 4 KiB.
    fn default() -> Self {
        Self { word_bytes: 8, page_order: Order(0) }
    }
}

impl Arch {
    /// Returns the bytes of a page.
    pub fn page_bytes(self) -> u64 {
        self.page_order.bytes()
    }

    /// Returns the order, in blocks of [`PAGE_SIZE`](crate::PAGE_SIZE), of 2^`order` pages.
    pub fn order(self, order: Order) -> Order {
        Order(order.0.saturating_add(self.page_order.0))
    }

    /// Returns the order, in pages, of a block.
    pub fn order_in_pages(self, order: Order) -> Order {
        Order(order.0.saturating_sub(self.page_order.0))
    }

    /// Returns the smallest block of whole pages that holds `bytes` (see [`Order::for_bytes`]).
    pub fn order_for_bytes(self, bytes: u64) -> Option<Order> {
        Order::for_bytes(bytes).map(|order| order.max(self.page_order))
    }
}

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
        // Small objects share a line: as many as fit whole.
        let mut line = CACHE_LINE as u32;
        while object_size <= line / 2 {
            line /= 2;
        }
        result = result.max(line);
    }
    result.next_multiple_of(ALIGN_MIN)
}

/// Lays an object out for SLUB (Linux: `calculate_sizes`).
pub fn object_layout(arch: Arch, args: &CacheArgs) -> ObjectLayout {
    layout(arch, args, Links::InObject)
}

/// Lays an object out for an allocator that keeps its free lists elsewhere.
pub(crate) fn object_layout_unlinked(arch: Arch, args: &CacheArgs) -> ObjectLayout {
    layout(arch, args, Links::Elsewhere)
}

/// Where free objects are linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Links {
    InObject,
    Elsewhere,
}

/// Returns what a caller may use of an object with that layout (Linux: `slab_ksize`): the padding behind it, too, where the
/// allocator has nothing there.
pub fn usable_bytes(flags: SlabFlags, object_size: u32, inuse: u32, size: u32) -> u32 {
    let has = |flag| flags.has(flag);
    if has(SlabFlags::RED_ZONE) || has(SlabFlags::POISON) {
        object_size
    } else if has(SlabFlags::TYPESAFE_BY_RCU) || has(SlabFlags::STORE_USER) {
        inuse
    } else {
        size
    }
}

fn layout(arch: Arch, args: &CacheArgs, links: Links) -> ObjectLayout {
    let (flags, word) = (args.flags, arch.word_bytes);
    let align = alignment(flags, args.align, args.object_size);
    let mut size = args.object_size.next_multiple_of(word);
    if flags.has(SlabFlags::RED_ZONE) && size == args.object_size {
        size += word;
    }
    let inuse = size;
    let keeps_contents = flags.has(SlabFlags::TYPESAFE_BY_RCU) || args.ctor.is_some();
    let outside = (keeps_contents && args.freeptr_offset.is_none())
        || flags.has(SlabFlags::POISON)
        || (flags.has(SlabFlags::RED_ZONE) && args.object_size < word);
    let free_offset = if links == Links::Elsewhere {
        0
    } else if outside {
        size += word;
        size - word
    } else if let (true, Some(offset)) = (keeps_contents, args.freeptr_offset) {
        offset
    } else {
        // In the middle, away from an overrun of either neighbour.
        (args.object_size / 2) & !(word - 1)
    };
    if flags.has(SlabFlags::STORE_USER) {
        size += 2 * TRACK_BYTES;
    }
    let mut left_pad = 0;
    if flags.has(SlabFlags::RED_ZONE) {
        size += word;
        left_pad = word.next_multiple_of(align);
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

/// Returns the order of a cache's slabs, or `None` if no block holds one object (Linux 6.18: `calculate_order`).
/// The order is that of `order_max` pages at most, where an object allows it.
pub fn calculate_order(arch: Arch, size: u32, min_objects: u32, order_max: Order) -> Option<Order> {
    let order_max = arch.order(order_max);
    let most = objects_in(order_max, size).max(1);
    let wanted = min_objects.clamp(1, most);
    let order_min = arch.order_for_bytes(u64::from(wanted) * u64::from(size))?;
    if objects_in(order_min, size) > OBJECTS_MAX {
        let order = arch.order_for_bytes(u64::from(size) * u64::from(OBJECTS_MAX));
        return order.map(|o| Order(o.0 - 1));
    }
    for fraction in [16, 8, 4, 2] {
        for order in (order_min.0..=order_max.0).map(Order) {
            if order.bytes() % u64::from(size) <= order.bytes() / fraction {
                return Some(order);
            }
        }
    }
    arch.order_for_bytes(u64::from(size))
}

/// Returns the number of objects that per-CPU partial slabs may hold (Linux: `set_cpu_partial`).
pub fn cpu_partial_objects(arch: Arch, size: u32) -> u32 {
    match size {
        _ if u64::from(size) >= arch.page_bytes() => 6,
        1024.. => 24,
        256.. => 52,
        _ => 120,
    }
}

/// Returns the number of empty slabs a node keeps: `log2(size) / 2`, 5 to 10.
pub fn min_partial(size: u32) -> u32 {
    (size.ilog2() / 2).clamp(5, 10)
}
