//! A model of Linux's page allocator that counts and has no memory: where blocks would be, and what stays free.
//!
//! # How it works
//! A [`zone`] has free lists by order and migrate type ([`lists`]) and the type of each page block; where a type has no
//! block, one of another is taken ([`fallback`]), by the [`rules`] of the recorded release. CPUs keep pages of low orders
//! ([`cpu_pages`]), and the [`machine`] chooses the zone by flags and watermarks. The [`aged`] part makes a zone that has
//! the free blocks that a kernel said it had.
//!
//! # Invariants
//! Free blocks never overlap, and a block whose buddy is free and of the same order was merged with it, up to the greatest
//! order and as far as types permit.
//!
//! Linux counterpart: `mm/page_alloc.c` @ 6.1, 6.12 and 7.3.
//!
//! # Differences from Linux
//! Nothing is reclaimed or compacted: what Linux frees by these comes as frees of the trace. Watermarks are not boosted.
//! Pages count as movable when they were allocated so, while Linux looks whether they are on a list of reclaim. Contiguous
//! areas (CMA) are never allocated from, and isolated blocks stay isolated.

pub(crate) mod aged;
pub(crate) mod cpu_pages;
pub(crate) mod fallback;
pub(crate) mod holes;
pub(crate) mod lists;
pub(crate) mod machine;
pub(crate) mod mapped;
pub(crate) mod migrate;
mod room;
pub(crate) mod rules;
#[cfg(test)]
mod tests;
pub(crate) mod zone;
