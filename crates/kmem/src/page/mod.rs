//! The page allocator: zones with a buddy system, per-CPU page lists, dense page metadata.
//!
//! # How it works
//! `meta` has one 32-byte record a page, so that an address leads to its slab by arithmetic.
//! Blocks of order 0 to 3 pass through per-CPU lists, refilled from and spilled to the
//! buddy system (`buddy`) of a zone in batches; larger blocks go to the zone. `zones` chooses zone
//! and node and guards the watermarks.
//!
//! # Lock order
//! slab node list lock -> pcp lock -> zone lock. A zone lock is a leaf.
//!
//! Linux counterpart: `mm/page_alloc.c` @ 6.1.
//!
//! # Differences from Linux
//! It has no migrate types and no reclaim: an allocation beyond the watermark fails at once.

pub(crate) mod buddy;
pub(crate) mod list;
pub(crate) mod meta;
pub(crate) mod zones;

pub(crate) use list::PageList;
pub(crate) use meta::{Kind, Page, PageTable};
pub(crate) use zones::{BlockRequest, Memory, Zones};
