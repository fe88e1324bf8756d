//! Sizes of carved blocks: an object takes what it needs, and a kmalloc's size stands in front of it.

use alloc::string::ToString;

use super::{GRANULE, HEADER};
use crate::backend::ops::CacheLayout;
use crate::cache::args::CacheArgs;
use crate::cache::core::Core;
use crate::cache::geometry::{ALIGN_MIN, ObjectLayout, alignment};
use crate::cache::setup::CheckLevel;
use crate::cache::table::CacheEntry;
use crate::error::Error;
use crate::ids::{ObjPtr, Order, PAGE_SIZE};
use crate::raw::arena::Arena;

/// Bytes behind an object of a type-safe cache for its deferred free (`struct slob_rcu`). Two aligned words of them are
/// used: the link of [`Waiting`](crate::cache::grace::Waiting), and the cache.
const RCU_BYTES: u32 = 24;

/// Returns where a type-safe cache's object, which waits for its readers, is linked: behind what they may see.
pub(super) fn waiting_block(cache: &CacheEntry, obj: ObjPtr) -> Option<ObjPtr> {
    ObjPtr::new(obj.get() + u64::from(cache.object_size.get()).next_multiple_of(GRANULE))
}

/// Returns the object of a cache that is linked there.
pub(super) fn waiting_object(cache: &CacheEntry, block: ObjPtr) -> u64 {
    block.get() - u64::from(cache.object_size.get()).next_multiple_of(GRANULE)
}

/// Computes sizes; there are no slabs, so order and count only matter from a page on.
pub(super) fn plan(args: &CacheArgs) -> Result<CacheLayout, Error> {
    let error = |what| Error::Cache { name: args.name.to_string(), what };
    let align = alignment(args.flags, args.align, args.object_size);
    let (mut inuse, mut left_pad, mut red_end) = (args.object_size, 0, 0);
    if args.flags.has(crate::SlabFlags::TYPESAFE_BY_RCU) {
        inuse += RCU_BYTES;
    }
    if args.flags.has(crate::SlabFlags::RED_ZONE) {
        // At least 8 bytes behind the object, and in front of it as many as keep it aligned.
        red_end = inuse.next_multiple_of(ALIGN_MIN) + ALIGN_MIN;
        left_pad = align.max(ALIGN_MIN);
        inuse = left_pad + red_end;
    }
    let mut size = inuse.next_multiple_of(GRANULE as u32);
    // The page allocator provides every alignment above a page.
    if u64::from(align) > PAGE_SIZE {
        size = size.next_multiple_of(align);
    }
    let order = Order::for_bytes(u64::from(size))
        .ok_or_else(|| error("an object is larger than the largest block of pages (4 MiB)"))?;
    let layout = ObjectLayout {
        object_size: args.object_size,
        align: align.max(ALIGN_MIN),
        inuse,
        size,
        free_offset: 0,
        left_pad,
        red_end,
    };
    let objects = (order.bytes() / u64::from(size)) as u32;
    Ok(CacheLayout { layout, order, order_min: order, objects })
}

/// Size and alignment of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Granules, header included.
    pub(super) granules: u32,
    /// Alignment of the object, in granules.
    pub(super) align: u32,
    /// Granules between the start of the block and the object.
    pub(super) offset: u32,
    /// The class of a naturally aligned kmalloc, one bit; 0: none.
    pub(super) class: u64,
    /// Bytes as Linux counts them, to choose the list.
    pub(super) bytes: u64,
    /// Whether the page's map is to have its first and last granule.
    pub(super) marked: bool,
}

impl Shape {
    /// Describes the block of an object of `cache`.
    #[inline]
    pub(super) fn object(cache: &CacheEntry) -> Self {
        let (bytes, pad) = (u64::from(cache.inuse.get()), cache.left_pad.get());
        let align = (cache.align.get() / GRANULE as u32).max(1);
        Self { align, offset: pad / GRANULE as u32, ..Self::plain(bytes) }
    }

    /// Describes a kmalloc of `size` bytes. Its size stands in front, powers of two are naturally aligned,
    /// and `red` bytes behind it reveal an overflow.
    #[inline]
    pub(super) fn kmalloc(size: u64, red: u64) -> Self {
        let room = if red == 0 { size } else { size.next_multiple_of(GRANULE) + red };
        let block = Self { offset: (HEADER / GRANULE) as u32, ..Self::plain(room + HEADER) };
        if !is_natural(size) {
            return block;
        }
        // Sizes from 16 to 2048 bytes have bits 0 to 7. With a red zone a class has more granules, but they
        // are its own.
        Self { align: (size / GRANULE) as u32, class: 1 << (size.ilog2() - 4), ..block }
    }

    /// Describes a kmalloc of `size` bytes without a header: its first and last granules each have a mark in the page's
    /// map.
    #[inline]
    pub(super) fn marked(size: u64) -> Self {
        let bytes = size.next_multiple_of(GRANULE).max(2 * GRANULE);
        let block = Self { marked: true, ..Self::plain(bytes) };
        if !is_natural(size) {
            return block;
        }
        Self { align: (size / GRANULE) as u32, class: 1 << (size.ilog2() - 4), ..block }
    }

    fn plain(bytes: u64) -> Self {
        let granules = bytes.div_ceil(GRANULE) as u32;
        Self { granules, align: 1, offset: 0, class: 0, bytes, marked: false }
    }
}

/// Returns whether a kmalloc of `size` bytes is aligned to its size.
fn is_natural(size: u64) -> bool {
    size.is_power_of_two() && size > GRANULE
}

/// Returns the bytes of red zone behind a kmalloc block, without the padding that rounds it up. It
/// is 0 where a red zone would not fit into a page.
#[inline]
pub(super) fn red_bytes(core: &Core, size: u64) -> u64 {
    // An aligned block can start at its size at the earliest, for its header comes before.
    let start = if is_natural(size) { size } else { HEADER };
    let end = start + size.next_multiple_of(GRANULE) + GRANULE;
    if core.setup.check >= CheckLevel::Full && end <= PAGE_SIZE { GRANULE } else { 0 }
}

/// Reads the size in front of a kmalloc block.
#[inline]
pub(super) fn header(arena: &Arena, obj: ObjPtr) -> u64 {
    arena.load(obj.get() - HEADER)
}

/// Writes the size in front of a kmalloc block.
#[inline]
pub(super) fn set_header(arena: &Arena, obj: ObjPtr, size: u64) {
    arena.store(obj.get() - HEADER, size);
}
