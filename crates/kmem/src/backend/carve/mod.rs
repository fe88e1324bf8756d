//! Carving blocks of any size out of pages: what SLOB and SLMB share.
//!
//! # How it works
//! Linux's SLOB threads a list of free runs through each page, in address order, and takes the
//! first run that fits. Since runs always merge, the set of free bytes tells everything about a
//! page. Every block starts on a multiple of 8 bytes, and a run ends where a block starts. So
//! counting in granules of 8 bytes decides the same fits as SLOB's units of 2, and the state of a
//! page is a [`freemap`] of 512 bits.
//!
//! Pages with free bytes stand in a [`ring`] in Linux's order: new ones in front, and the search
//! starting at the page of the last success (next fit). A search looks at a page's bits only if the
//! longest run that the page may have would do ([`pages`]).
//!
//! A kmalloc block has its size in front, or its page has a [`map`] of where such blocks begin and end.
//!
//! # Invariants
//! - A page on a ring has `1..2048` free units of 2 bytes; a full page is on none; an empty one is
//!   freed.
//!
//! Linux counterpart: `slob_page_alloc`, `slob_alloc`, `slob_free` in `mm/slob.c` @ 6.1.

mod alloc;
mod free;
mod freemap;
pub(crate) mod heap;
mod layout;
mod map;
mod ops;
mod pages;
mod ring;
mod stat;
mod validate;

#[cfg(all(test, not(loom)))]
mod tests;

/// Bytes in a granule.
const GRANULE: u64 = 8;
/// Granules in a page.
const GRANULES: u32 = 512;
/// Bytes in front of a kmalloc block that hold its size (`minalign` in Linux).
const HEADER: u64 = 8;
