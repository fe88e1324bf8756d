//! What a replay of pages found out.

use serde::Serialize;
use slablab_trace::MIGRATE_TYPES;

use super::block_frame::BlockFrame;

/// What the page allocator had free, and did.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PageReplay {
    /// Whose rules the model followed
    pub rules: String,
    /// Whether the recording says what was free when it began; otherwise the machine began empty
    pub is_start_recorded: bool,
    /// Whether the recording says where these pages were, so that they lie there in the model
    pub is_place_recorded: bool,
    /// Bytes of a page
    pub page_bytes: u64,
    /// A page block has two to the power of this pages.
    pub block_order: u8,
    /// The zones when it began
    pub zones: Vec<PageZone>,
    /// Free blocks over time
    pub moments: Vec<PageMoment>,
    /// How well free blocks fit those recorded; absent where none were
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<PageFit>,
    /// Blocks of another migrate type that were taken
    pub fallbacks: Vec<PageFallback>,
    /// What moved between the zones and the lists of CPUs
    pub moved: Vec<PageMoved>,
    /// Allocations that found no block in the model, and that the recorded kernel gave
    pub failures: Vec<PageFailure>,
    /// Slabs that got blocks of their cache's lowest order, because none of the usual one was free
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slab_fallbacks: Vec<SlabFallback>,
    /// Blocks of another migrate type that were taken for slabs
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stolen_by_slabs: Vec<StolenBySlabs>,
    /// Who had the page blocks at a few moments; not part of the stored result
    #[serde(skip)]
    pub frames: Vec<BlockFrame>,
    /// Allocations that failed in the recorded kernel
    pub recorded_failures: u64,
    /// Pages that were freed and are older than the trace
    pub older_pages: u64,
    /// Those of them that the model had no page in use for
    pub older_pages_unplaced: u64,
    /// Pages that were free when it began and found no place in the model
    pub unplaced_pages: u64,
}

/// A zone when the replay began. Its numbers are pages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PageZone {
    /// Its NUMA node
    pub node: u16,
    /// Its name
    pub name: String,
    /// Pages that the page allocator has
    pub managed: u64,
    /// Free ones
    pub free: u64,
    /// Below it other zones are asked first.
    pub low_watermark: u64,
}

/// Free blocks at a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PageMoment {
    /// Since the first event of pages
    pub time_ns: u64,
    /// By order, in the model
    pub free_blocks: Vec<u64>,
    /// By order, as the recorded kernel said; absent where it was not read
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_blocks: Option<Vec<u64>>,
    /// Pages that CPUs keep, in the model
    pub cpu_pages: u64,
    /// Pages of slabs that came since the beginning and have not gone; absent where nothing is known of slabs
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slab_pages: Option<u64>,
    /// What could be had of the order that was asked about; absent where none was
    #[serde(skip_serializing_if = "Option::is_none")]
    pub room: Option<PageRoom>,
}

/// What the kernel could have had at a moment, in the model, before it has to wait for reclaim or compaction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PageRoom {
    /// Blocks of the order, one after the other
    pub blocks: u64,
    /// Single pages, if no block is taken
    pub pages: u64,
}

/// How far free blocks of the model are from those recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PageFit {
    /// Moments that were compared
    pub moments: u64,
    /// The median over moments of: bytes by which the orders differ, added up, of the bytes that were free
    pub off_share_median: f64,
    /// The same of the worst moment
    pub off_share_max: f64,
    /// In this share of the moments the largest free block has the right order.
    pub largest_right_share: f64,
    /// By order the median over moments of: bytes by which it differs, of those recorded; absent where none was recorded
    pub by_order: Vec<Option<f64>>,
}

/// Blocks of one migrate type that were taken for another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PageFallback {
    /// The type that was asked for
    pub migrate_type: String,
    /// The type of the block that was taken
    pub fallback_type: String,
    /// How often in the model
    pub simulated: u64,
    /// How often in the recorded kernel
    pub recorded: u64,
}

/// Blocks that moved between zones and lists of CPUs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PageMoved {
    /// The kernel's event
    pub event: String,
    /// How often in the model
    pub simulated: u64,
    /// How often in the recorded kernel
    pub recorded: u64,
}

/// Allocations that found no block.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PageFailure {
    /// The order that was asked for
    pub order: u8,
    /// Who asked first; "" where the trace does not tell
    pub program: String,
    /// The cache whose slab asked; absent of other allocations
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cache: String,
    /// When, since the first event of pages
    pub first_ns: u64,
    /// How many
    pub count: u64,
}

/// Slabs of a cache that did not get a block of the usual order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct SlabFallback {
    /// The cache
    pub cache: String,
    /// The order that had no free block
    pub order: u8,
    /// The order of the blocks that it got instead
    pub order_min: u8,
    /// When this happened first, since the first event of pages
    pub first_ns: u64,
    /// How often
    pub count: u64,
}

/// Blocks of one migrate type that slabs of a cache took for another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct StolenBySlabs {
    /// The cache; "" where the trace does not tell
    pub cache: String,
    /// The type that was asked for
    pub migrate_type: String,
    /// The type of the block that was taken
    pub fallback_type: String,
    /// How often
    pub count: u64,
}

/// Returns the pages of free blocks by order.
#[must_use]
pub fn pages_of(blocks: &[u64]) -> u64 {
    (0..)
        .zip(blocks)
        .fold(0, |sum: u64, (order, count)| sum.saturating_add(count.saturating_mul(1 << order)))
}

/// Returns the order of the largest free block.
#[must_use]
pub fn largest_order(blocks: &[u64]) -> Option<u8> {
    blocks.iter().rposition(|count| *count > 0).map(|order| order as u8)
}

/// Returns the share of free memory that is of no use to an allocation of an order (Linux has it as `unusable_index`).
#[must_use]
pub fn unusable_share(blocks: &[u64], order: u8) -> Option<f64> {
    let all = pages_of(blocks);
    let small = pages_of(blocks.get(..usize::from(order).min(blocks.len())).unwrap_or_default());
    (all > 0).then(|| small as f64 / all as f64)
}

impl PageMoment {
    /// Returns the bytes, in pages, by which the orders differ, and those that were free.
    fn off(&self) -> Option<(u64, u64)> {
        let recorded = self.recorded_blocks.as_ref()?;
        let orders = recorded.len().max(self.free_blocks.len());
        let of = |blocks: &[u64], order: usize| blocks.get(order).copied().unwrap_or(0) << order;
        let off =
            (0..orders).map(|order| of(recorded, order).abs_diff(of(&self.free_blocks, order)));
        Some((off.sum(), pages_of(recorded)))
    }
}

impl PageFit {
    /// Compares moments; `None` where nothing was recorded.
    pub(super) fn of(moments: &[PageMoment]) -> Option<PageFit> {
        let share = |(off, all): (u64, u64)| off as f64 / all.max(1) as f64;
        let shares: Vec<f64> = moments.iter().filter_map(PageMoment::off).map(share).collect();
        let compared: Vec<(&PageMoment, &Vec<u64>)> = moments
            .iter()
            .filter_map(|moment| Some((moment, moment.recorded_blocks.as_ref()?)))
            .collect();
        let is_right = |(moment, recorded): &&(&PageMoment, &Vec<u64>)| {
            largest_order(&moment.free_blocks) == largest_order(recorded)
        };
        let right = compared.iter().filter(is_right).count();
        let orders = compared.iter().map(|(_, recorded)| recorded.len()).max().unwrap_or(0);
        let by_order = |order: usize| {
            let off = |(moment, recorded): &(&PageMoment, &Vec<u64>)| {
                let simulated = moment.free_blocks.get(order).copied().unwrap_or(0);
                let recorded = recorded.get(order).copied().filter(|blocks| *blocks > 0)?;
                Some(simulated.abs_diff(recorded) as f64 / recorded as f64)
            };
            median(compared.iter().filter_map(off).collect())
        };
        Some(PageFit {
            moments: compared.len() as u64,
            off_share_max: shares.iter().copied().fold(0.0, f64::max),
            off_share_median: median(shares)?,
            largest_right_share: right as f64 / compared.len().max(1) as f64,
            by_order: (0..orders).map(by_order).collect(),
        })
    }
}

/// Returns the name of a migrate type.
pub(super) fn type_name(number: u8) -> String {
    let known = MIGRATE_TYPES.get(usize::from(number));
    known.map_or_else(|| format!("type {number}"), |name| (*name).to_owned())
}

/// Returns the lower median.
pub(super) fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_space_below_an_order_is_unusable_for_it() {
        let blocks = [2, 1, 3];
        assert_eq!((pages_of(&blocks), largest_order(&blocks)), (16, Some(2)));
        assert_eq!(unusable_share(&blocks, 2), Some(0.25));
        assert_eq!(
            (unusable_share(&blocks, 0), unusable_share(&blocks, 9)),
            (Some(0.0), Some(1.0))
        );
        assert_eq!((unusable_share(&[0], 1), largest_order(&[0, 0])), (None, None));
    }

    #[test]
    fn a_fit_adds_up_what_orders_differ_by() {
        let moment = |free: &[u64], recorded: Option<&[u64]>| PageMoment {
            free_blocks: free.to_vec(),
            recorded_blocks: recorded.map(<[u64]>::to_vec),
            ..PageMoment::default()
        };
        let moments = [
            moment(&[4, 0, 4], Some(&[2, 1, 4])),
            moment(&[0, 0, 5], Some(&[0, 0, 5])),
            moment(&[0, 5], Some(&[10, 0, 0])),
            moment(&[1], None),
        ];
        let fit = PageFit::of(&moments).unwrap();
        assert_eq!((fit.moments, fit.off_share_median, fit.off_share_max), (3, 0.2, 2.0));
        assert_eq!(fit.by_order, [Some(1.0), Some(1.0), Some(0.0)]);
        assert_eq!(fit.largest_right_share, 2.0 / 3.0);
        assert_eq!(PageFit::of(&moments[3..]), None);
    }
}
