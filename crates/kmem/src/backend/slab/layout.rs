//! Orders, colours and limits of a cache under SLAB.
//!
//! Linux counterpart: `calculate_slab_order`, `set_objfreelist_slab_cache`, `set_off_slab_cache`,
//! `set_on_slab_cache`, `enable_cpucache` in `mm/slab.c` @ 6.1.

use alloc::string::ToString;

use crate::Gfp;
use crate::backend::ops::CacheLayout;
use crate::cache::args::CacheArgs;
use crate::cache::core::Core;
use crate::cache::flags::SlabFlags;
use crate::cache::geometry::{self, ObjectLayout};
use crate::cache::table::CacheEntry;
use crate::error::Error;
use crate::ids::{CACHE_LINE, Order, PAGE_SIZE, Site};
use crate::raw::local::LocalU32;
use crate::raw::zeroed::zeroed_struct;

/// Objects that a per-CPU array can hold at most.
pub(super) const LIMIT_MAX: u32 = 254;
/// Objects that a shared array can hold at most.
pub(super) const SHARED_MAX: u32 = 1024;
/// Objects in a slab at most: an index is a byte (`SLAB_OBJ_MAX_NUM`).
const OBJECTS_MAX: u32 = 255;
/// Smallest object, in bytes (`SLAB_OBJ_MIN_SIZE`).
const OBJECT_BYTES_MIN: u32 = 16;
/// Smallest of Linux's kmalloc classes that it uses, in bytes (`KMALLOC_MIN_SIZE`).
pub(super) const KMALLOC_MIN: u32 = 32;
/// Highest order taken for less waste, on a machine of more than 32 MiB (`SLAB_MAX_ORDER_HI`).
const ORDER_HI: Order = Order(1);

zeroed_struct! {
    /// What SLAB keeps of a cache beside the common numbers.
    #[derive(Debug)]
    pub(super) struct Colours {
        /// Number of different starts of a slab.
        pub(super) count: LocalU32,
        /// Bytes between them.
        pub(super) step: LocalU32,
        /// [`Mode`].
        mode: LocalU32,
        /// Objects in a CPU's array.
        pub(super) limit: LocalU32,
        /// Objects moved at once (`batchcount`).
        pub(super) batch: LocalU32,
        /// Objects in a shared array.
        pub(super) shared: LocalU32,
    }
}

impl Colours {
    pub(super) fn mode(&self) -> Mode {
        [Mode::InObject, Mode::OffSlab, Mode::OnSlab][self.mode.get() as usize % 3]
    }
}

/// Where a slab keeps the indexes of its free objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// In the free object that will be allocated last.
    InObject = 0,
    /// In a kmalloc block.
    OffSlab = 1,
    /// Behind the objects.
    OnSlab = 2,
}

/// A choice of order for one mode.
#[derive(Debug, Clone, Copy)]
struct Choice {
    order: Order,
    objects: u32,
    left_over: u32,
}

/// Computes sizes and order.
pub(super) fn plan(core: &Core, args: &CacheArgs) -> Result<CacheLayout, Error> {
    let layout = layout(core, args);
    let (_, choice) = choose(core, args, &layout).ok_or_else(|| Error::Cache {
        name: args.name.to_string(),
        what: "an object is larger than the largest block of pages (4 MiB)",
    })?;
    let Choice { order, objects, .. } = choice;
    Ok(CacheLayout { layout, order, order_min: order, objects })
}

/// Lays an object out; a page of objects below 16 bytes would have more of them than a byte can
/// number.
fn layout(core: &Core, args: &CacheArgs) -> ObjectLayout {
    let mut layout = geometry::object_layout_unlinked(core.setup.arch, args);
    if layout.size < OBJECT_BYTES_MIN {
        layout.size = OBJECT_BYTES_MIN.next_multiple_of(layout.align);
    }
    layout
}

/// Sets colours and mode, repeating the choice of [`plan`].
pub(super) fn set_colours(core: &Core, colours: &Colours, cache: &CacheEntry, args: &CacheArgs) {
    let layout = layout(core, args);
    let Some((mode, choice)) = choose(core, args, &layout) else { return };
    let step = (CACHE_LINE as u32).max(cache.align.get());
    colours.step.set(step);
    colours.count.set(choice.left_over / step);
    colours.mode.set(mode as u32);
}

/// Sets `limit`, `batchcount` and the size of the shared array.
pub(super) fn set_limits(core: &Core, limits: &Colours, cache: &CacheEntry, args: &CacheArgs) {
    let tunable = |name| core.tunable(args, name);
    let size = cache.size.get();
    let limit = tunable("limit").unwrap_or(match size {
        131_073.. => 1,
        _ if u64::from(size) > PAGE_SIZE => 8,
        1025.. => 24,
        257.. => 54,
        _ => 120,
    });
    let limit = limit.clamp(1, LIMIT_MAX);
    let batch = tunable("batchcount").unwrap_or(limit.div_ceil(2)).clamp(1, limit);
    let many = u64::from(size) <= PAGE_SIZE && core.setup.cpus > 1;
    let shared = tunable("sharedfactor").unwrap_or(if many { 8 } else { 0 });
    limits.limit.set(limit);
    limits.batch.set(batch);
    limits.shared.set((shared * batch).min(SHARED_MAX));
}

/// Tries the three modes in Linux's order.
fn choose(core: &Core, args: &CacheArgs, layout: &ObjectLayout) -> Option<(Mode, Choice)> {
    // A free object that holds poison, or what its constructor wrote, has no room for the list.
    let keeping = SlabFlags::TYPESAFE_BY_RCU | SlabFlags::POISON;
    let keeps = args.ctor.is_some() || args.flags.any(keeping);
    if !keeps
        && let Some(choice) = order(core, args, layout.size, Mode::InObject)
        && choice.objects <= layout.object_size
    {
        return Some((Mode::InObject, choice));
    }
    if !args.flags.has(SlabFlags::NOLEAKTRACE)
        && let Some(choice) = order(core, args, layout.size, Mode::OffSlab)
        && choice.left_over < choice.objects
    {
        return Some((Mode::OffSlab, choice));
    }
    order(core, args, layout.size, Mode::OnSlab).map(|choice| (Mode::OnSlab, choice))
}

/// Finds the lowest order whose waste is an eighth at most, or the highest that is allowed.
fn order(core: &Core, args: &CacheArgs, size: u32, mode: Mode) -> Option<Choice> {
    let high = core.setup.memory_bytes > 32 << 20;
    let order_max = if high { ORDER_HI } else { Order(0) };
    let asked = core.tunable(args, "order").map(Order::saturating);
    let mut best = None;
    for order in (0..=Order::MAX.0).map(Order) {
        // An index behind the objects takes a byte for each.
        let each = if mode == Mode::OnSlab { size + 1 } else { size };
        let objects = (order.bytes() / u64::from(each)) as u32;
        if objects == 0 {
            continue;
        }
        if objects > OBJECTS_MAX {
            break;
        }
        if mode == Mode::OffSlab {
            // This pays only if the indexes take much less than an object.
            let list = core.kmalloc.cache(u64::from(objects), Gfp::NONE, Site(0));
            let list_size = list.map(|id| core.caches.get(id).size.get());
            if list_size.is_none_or(|bytes| bytes > size / 2) {
                continue;
            }
        }
        let left_over = (order.bytes() % u64::from(each)) as u32;
        best = Some(Choice { order, objects, left_over });
        let enough = match asked {
            Some(asked) => order >= asked,
            None => {
                args.flags.has(SlabFlags::RECLAIM_ACCOUNT)
                    || order >= order_max
                    || u64::from(left_over) * 8 <= order.bytes()
            }
        };
        if enough {
            break;
        }
    }
    best
}
