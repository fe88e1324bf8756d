//! Whether a block of an order can be had, at each moment of a replay of pages, and by which function of the kernel.
//!
//! # How it works
//! A function asks for one block, or for single pages that it maps one behind the other. At a moment it gets what it asks for at
//! once if the zones have that above the watermark below which the kernel waits ([`PageRoom`]).
//!
//! Linux counterpart: `kmalloc`, `alloc_pages_exact` and `kvmalloc` of `mm/slub.c`, `mm/page_alloc.c` and `mm/util.c`,
//! `vmalloc` of `mm/vmalloc.c` @ 6.1 to 7.3.

use serde::Serialize;

use super::result::{PageFit, PageReplay, PageRoom};

/// What can be had of an order, over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct OrderRoom {
    /// The order of the blocks
    pub order: u8,
    /// Bytes of a block
    pub block_bytes: u64,
    /// The highest order that the page allocator has
    pub max_order: u8,
    /// Whether the machine began with free lists that were recorded or told; otherwise it began empty
    pub is_start_recorded: bool,
    /// How well free blocks of the model fit those recorded; absent where none were
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<PageFit>,
    /// Over time
    pub moments: Vec<OrderMoment>,
    /// Each function that could be called
    pub calls: Vec<OrderCall>,
}

/// What could be had at a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct OrderMoment {
    /// Since the first event
    pub time_ns: u64,
    /// Blocks of the order, one after the other
    pub blocks: u64,
    /// Single pages, if no block is taken
    pub pages: u64,
    /// Blocks of the order in the free lists of the recorded kernel, of all migrate types and below all watermarks; absent
    /// where they were not read
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_blocks: Option<u64>,
}

/// A function of the kernel that gives so much memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct OrderCall {
    /// Its name
    pub call: &'static str,
    /// Whether the memory is contiguous for a device
    pub is_contiguous: bool,
    /// At how many moments it would have got the memory at once
    pub moments: u64,
}

/// Bytes of a page of most machines, where a recording does not tell.
const PAGE_BYTES: u64 = 4 << 10;

/// `kvmalloc` refuses more than INT_MAX bytes, which `mm/util.c` and `mm/slub.c` check @ 5.12 to 7.3.
const KVMALLOC_BYTES_MAX: u64 = i32::MAX as u64;

/// What a function asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    Block,
    Pages,
    BlockOrPages,
}

const CALLS: [(&str, Needs); 6] = [
    ("kmalloc", Needs::Block),
    ("__get_free_pages", Needs::Block),
    ("alloc_pages_exact", Needs::Block),
    ("kvmalloc", Needs::BlockOrPages),
    ("vmalloc", Needs::Pages),
    ("alloc_pages_bulk", Needs::Pages),
];

impl OrderRoom {
    /// Reads a replay of pages that asked about an order ([`RestPlan::order`](super::plan::RestPlan::order)).
    #[must_use]
    pub fn of(order: u8, replay: &PageReplay) -> OrderRoom {
        let moments: Vec<OrderMoment> = replay
            .moments
            .iter()
            .map(|moment| {
                let PageRoom { blocks, pages } = moment.room.unwrap_or_default();
                let recorded = moment.recorded_blocks.as_deref();
                let recorded_blocks = recorded.map(|blocks| blocks_of(blocks, order));
                OrderMoment { time_ns: moment.time_ns, blocks, pages, recorded_blocks }
            })
            .collect();
        let page_bytes = if replay.page_bytes == 0 { PAGE_BYTES } else { replay.page_bytes };
        let block_bytes = page_bytes << order;
        let call = |(call, needs): (&'static str, Needs)| {
            let is_refused = needs == Needs::BlockOrPages && block_bytes > KVMALLOC_BYTES_MAX;
            let has = moments.iter().filter(|moment| !is_refused && moment.has(needs, order));
            OrderCall { call, is_contiguous: needs == Needs::Block, moments: has.count() as u64 }
        };
        let orders = replay.moments.first().map_or(0, |moment| moment.free_blocks.len());
        OrderRoom {
            order,
            block_bytes,
            max_order: orders.saturating_sub(1) as u8,
            is_start_recorded: replay.is_start_recorded,
            fit: replay.fit.clone(),
            calls: CALLS.into_iter().map(call).collect(),
            moments,
        }
    }

    /// Returns whether a block could be had at each moment.
    #[must_use]
    pub fn is_always_there(&self) -> bool {
        !self.moments.is_empty() && self.moments.iter().all(|moment| moment.blocks > 0)
    }

    /// Returns whether `kvmalloc` refuses so much, whatever is free.
    #[must_use]
    pub fn is_beyond_kvmalloc(&self) -> bool {
        self.block_bytes > KVMALLOC_BYTES_MAX
    }

    /// Returns the moment at which fewest blocks could be had, the first of several.
    #[must_use]
    pub fn least(&self) -> Option<&OrderMoment> {
        self.moments.iter().min_by_key(|moment| moment.blocks)
    }
}

impl OrderMoment {
    fn has(&self, needs: Needs, order: u8) -> bool {
        let has_block = self.blocks > 0;
        let has_pages = self.pages >> order > 0;
        match needs {
            Needs::Block => has_block,
            Needs::Pages => has_pages,
            Needs::BlockOrPages => has_block || has_pages,
        }
    }
}

/// Returns how many blocks of an order free blocks hold.
fn blocks_of(blocks: &[u64], order: u8) -> u64 {
    let larger = (0..).zip(blocks).skip(order.into());
    larger.fold(0, |sum: u64, (from, count): (u8, &u64)| {
        sum.saturating_add(count.saturating_mul(1 << (from - order)))
    })
}

#[cfg(test)]
mod tests {
    use super::super::result::PageMoment;
    use super::*;

    #[test]
    fn a_function_gets_what_it_needs_where_that_is_free() {
        let moment = |time_ns, blocks, pages, recorded: Option<&[u64]>| PageMoment {
            time_ns,
            free_blocks: vec![0; 11],
            recorded_blocks: recorded.map(<[u64]>::to_vec),
            room: Some(PageRoom { blocks, pages }),
            ..PageMoment::default()
        };
        let moments = vec![
            moment(0, 3, 2_000, Some(&[9, 9, 0, 1, 2])),
            moment(5, 0, 900, None),
            moment(9, 0, 7, None),
        ];
        let replay = PageReplay { page_bytes: 4096, moments, ..PageReplay::default() };
        let room = OrderRoom::of(3, &replay);
        assert_eq!((room.block_bytes, room.max_order, room.moments.len()), (32_768, 10, 3));
        assert_eq!(room.moments[0].recorded_blocks, Some(1 + 2 * 2));
        let calls: Vec<_> = room.calls.iter().map(|call| (call.call, call.moments)).collect();
        assert_eq!(calls[0], ("kmalloc", 1));
        assert_eq!(calls[3..5], [("kvmalloc", 2), ("vmalloc", 2)]);
        assert!(!room.is_always_there() && room.least().unwrap().time_ns == 5);
        assert!(!OrderRoom::default().is_always_there());
        // kvmalloc refuses 2 GiB, for which vmalloc has the pages.
        let moments = vec![moment(0, 0, 1 << 20, None)];
        let replay = PageReplay { page_bytes: 4096, moments, ..PageReplay::default() };
        let room = |order| OrderRoom::of(order, &replay);
        let had =
            |order| room(order).calls[3..5].iter().map(|call| call.moments).collect::<Vec<_>>();
        assert_eq!((had(18), had(19)), (vec![1, 1], vec![0, 1]));
        assert!(!room(18).is_beyond_kvmalloc() && room(19).is_beyond_kvmalloc());
        // Traces of boots do not tell how large a page is.
        assert_eq!(OrderRoom::of(8, &PageReplay::default()).block_bytes, 1 << 20);
    }
}
