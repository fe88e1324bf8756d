//! Holders of pages by what people ask for: order, migrate type, flags, call site, owner, stack, module, program, use.
//!
//! How it works: every group is a sum of the same holders ([`crate::metrics::pages`]). An event of pages names no call site:
//! that is the first frame of its stack that is neither of the page allocator nor of the tracer before it. The owner is the
//! first frame from there that does not help ([`Helpers`]). Pages are of slabs where the call site is a function that makes
//! slabs; without a stack nothing tells, as large blocks of others have `__GFP_COMP`, too.

use std::collections::BTreeMap;

use slablab_linux::{Callers, Gfp, Helpers, Release, function_of};
use slablab_trace::{Meta, NO_BYTE, NONE};

use super::pages::{PageHolder, PageHoldings};

/// What holders of pages are put together by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageBy {
    /// Two to the power of this pages a block
    Order,
    /// The migrate type
    MigrateType,
    /// The flags
    Gfp,
    /// The function that called the page allocator, and where in it
    Site,
    /// The first function that does not allocate for its callers
    Owner,
    /// The module that the owner is in
    Module,
    /// The call stack
    Stack,
    /// What the thread that allocated is called
    Program,
    /// Whether the pages became a slab
    Use,
}

/// What stands for a name that nothing tells.
const UNKNOWN: &str = "(not known)";

/// Functions of the page allocator, and of those who only choose a node or a size for it, without underscores before them and
/// `_noprof` behind. Linux counterpart: `mm/page_alloc.c`, `mm/mempolicy.c` @ 6.1 to 7.3.
const PAGE_ALLOCATOR: [&str; 31] = [
    "alloc_frozen_pages",
    "alloc_frozen_pages_nolock",
    "alloc_page_interleave",
    "alloc_pages",
    "alloc_pages_bulk",
    "alloc_pages_bulk_array_mempolicy",
    "alloc_pages_bulk_interleave",
    "alloc_pages_bulk_mempolicy",
    "alloc_pages_bulk_preferred_many",
    "alloc_pages_bulk_weighted_interleave",
    "alloc_pages_current",
    "alloc_pages_direct_compact",
    "alloc_pages_exact",
    "alloc_pages_exact_nid",
    "alloc_pages_mpol",
    "alloc_pages_node",
    "alloc_pages_nodemask",
    "alloc_pages_nolock",
    "alloc_pages_preferred_many",
    "alloc_pages_slowpath",
    "alloc_pages_vma",
    "folio_alloc",
    "folio_alloc_mpol",
    "folio_alloc_node",
    "get_free_pages",
    "get_page_from_freelist",
    "get_zeroed_page",
    "kernel_alloc_pages",
    "post_alloc_hook",
    "prep_new_page",
    "vma_alloc_folio",
];

/// Functions that call the page allocator for a slab. Linux counterpart: `mm/slub.c`, `mm/slab.c`, `mm/slob.c` @ 6.1 to 7.3.
const SLAB_MAKERS: [&str; 12] = [
    "alloc_from_new_slab",
    "alloc_single_from_new_slab",
    "alloc_slab_page",
    "allocate_slab",
    "cache_grow_begin",
    "kmem_getpages",
    "new_slab",
    "refill_objects",
    "slab_alloc",
    "slab_alloc_node",
    "slob_alloc",
    "slob_new_pages",
];

/// The uses of pages, as their groups are called.
pub const USE_SLAB: &str = "slabs";
/// Pages of anything else.
const USE_OTHER: &str = "others";
/// Pages of allocations without a stack.
pub const USE_UNTOLD: &str = "(no stack: cannot tell)";

/// The names of groups of pages.
#[derive(Debug)]
pub struct PageLabels<'a> {
    meta: &'a Meta,
    holdings: &'a PageHoldings,
    helpers: Helpers,
    release: Option<Release>,
}

impl<'a> PageLabels<'a> {
    /// Names groups of `holdings`, which are of the trace that `meta` is of; `more` are helpers that a user named.
    #[must_use]
    pub fn new(meta: &'a Meta, holdings: &'a PageHoldings, more: &[String]) -> Self {
        let release = Release::of(&meta.kernel_release);
        let helpers = Helpers::known().and(more);
        let mut labels = Self { meta, holdings, helpers, release };
        let mut callers = Callers::default();
        for holding in &labels.holdings.holders {
            callers.add(&labels.helpers, &labels.frames(&holding.holder), holding.allocs);
        }
        let found: Vec<String> = callers.helpers().into_iter().map(str::to_owned).collect();
        labels.helpers = labels.helpers.and(found);
        labels
    }

    /// Returns the frames of a holder from its call site outwards; none without a stack.
    #[must_use]
    pub fn frames(&self, holder: &PageHolder) -> Vec<&'a str> {
        frames(self.meta, holder.stack)
    }

    /// Returns the name of the group that a holder is in.
    #[must_use]
    pub fn of(&self, by: PageBy, holder: &PageHolder) -> String {
        let frames = || self.frames(holder);
        let owner = || {
            let frames = frames();
            frames.get(self.helpers.owner(&frames)).or(frames.first()).copied()
        };
        match by {
            PageBy::Order => holder.order.to_string(),
            PageBy::MigrateType => migrate_type(holder.migrate_type, self.release),
            PageBy::Gfp => Gfp(holder.gfp).text(self.release).replace(" | ", "|"),
            PageBy::Site => frames().first().map_or(UNKNOWN, |frame| frame).to_owned(),
            PageBy::Owner => owner().map_or_else(|| UNKNOWN.to_owned(), function),
            PageBy::Module => owner().map_or(UNKNOWN, module).to_owned(),
            PageBy::Stack => match frames() {
                frames if frames.is_empty() => UNKNOWN.to_owned(),
                frames => frames.join(" < "),
            },
            PageBy::Program => match self.holdings.programs.get(holder.program as usize) {
                Some(name) if !name.is_empty() => name.clone(),
                _ => UNKNOWN.to_owned(),
            },
            PageBy::Use => self.use_of(holder).to_owned(),
        }
    }

    /// Returns whether pages are a slab's, as far as their stack tells.
    fn use_of(&self, holder: &PageHolder) -> &'static str {
        if holder.stack == NONE {
            return USE_UNTOLD;
        }
        if is_slab_maker(self.meta, holder.stack) { USE_SLAB } else { USE_OTHER }
    }
}

/// Returns whether a stack's pages became a slab.
pub(crate) fn is_slab_maker(meta: &Meta, stack: u32) -> bool {
    frames(meta, stack).first().is_some_and(|frame| SLAB_MAKERS.contains(&plain(frame)))
}

/// Returns the frames of a stack from the caller of the page allocator outwards.
fn frames(meta: &Meta, stack: u32) -> Vec<&str> {
    let frames: Vec<&str> = meta.stacks.frames(stack).map(|frame| frame.name.as_str()).collect();
    let Some(first) = frames.iter().position(|frame| is_page_allocator(frame)) else {
        return frames;
    };
    let rest = frames[first..].iter().position(|frame| !is_page_allocator(frame));
    rest.map_or_else(Vec::new, |rest| frames[first + rest..].to_vec())
}

/// Returns a function's name without what compilers, profiling and the kernel's customs put around it.
fn plain(frame: &str) -> &str {
    let function = function_of(frame).trim_start_matches('_');
    function.strip_suffix("_noprof").unwrap_or(function)
}

fn is_page_allocator(frame: &str) -> bool {
    PAGE_ALLOCATOR.contains(&plain(frame))
}

/// Returns the function of a frame, with its module.
fn function(frame: &str) -> String {
    match frame.split_once(" [") {
        Some((_, module)) => format!("{} [{module}", function_of(frame)),
        None => function_of(frame).to_owned(),
    }
}

/// Returns the module of a frame, `vmlinux` of the kernel proper.
fn module(frame: &str) -> &str {
    match frame.split_once(" [").and_then(|(_, rest)| rest.split_once(']')) {
        Some((module, _)) => module,
        None if frame.starts_with("0x") => UNKNOWN,
        None => "vmlinux",
    }
}

/// Returns what a release calls a migrate type. Those behind the first four depend on the kernel's configuration.
///
/// Linux counterpart: `enum migratetype` in `include/linux/mmzone.h` @ 6.1 and 6.18; before 4.4 reclaimable stood second.
#[must_use]
pub fn migrate_type(number: u8, release: Option<Release>) -> String {
    let is_old = release.is_some_and(|release| release < Release(4, 4));
    let name = match number {
        0 => "unmovable",
        1 if is_old => "reclaimable",
        2 if is_old => "movable",
        1 => "movable",
        2 => "reclaimable",
        3 if is_old => "reserve",
        3 => "highatomic",
        4 => "CMA or isolated",
        5 => "isolated",
        NO_BYTE => UNKNOWN,
        number => return format!("type {number}"),
    };
    name.to_owned()
}

/// Holders of pages of one name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageGroup {
    /// The name, one by each grouping that was asked for
    pub names: Vec<String>,
    /// The stack that has most of it at the last moment, or that allocated most: from the call site outwards
    pub stack: Vec<String>,
    /// Allocations
    pub allocs: u64,
    /// Their pages
    pub pages: u64,
    /// How many pages were alive at each moment
    pub live: Vec<u64>,
    /// Blocks that ended
    pub ended: u64,
    /// How long these lived on average
    pub lifetime_mean_ns: u64,
}

/// Puts holders of pages together by `by`, in the order of their names.
#[must_use]
pub fn page_groups(
    holdings: &PageHoldings,
    labels: &PageLabels<'_>,
    by: &[PageBy],
) -> Vec<PageGroup> {
    let mut all: BTreeMap<Vec<String>, (PageGroup, u64, (u64, u64))> = BTreeMap::new();
    for holding in &holdings.holders {
        let names: Vec<String> = by.iter().map(|by| labels.of(*by, &holding.holder)).collect();
        let (group, lived_ns, most) = all.entry(names).or_default();
        group.live.resize(holding.live.len(), 0);
        group.live.iter_mut().zip(&holding.live).for_each(|(sum, live)| *sum += live);
        group.allocs += holding.allocs;
        group.pages += holding.pages;
        group.ended += holding.ended;
        *lived_ns = lived_ns.saturating_add(holding.lived_ns);
        let rank = (holding.live.last().copied().unwrap_or(0), holding.pages);
        if group.stack.is_empty() || rank > *most {
            *most = rank;
            let frames = labels.frames(&holding.holder);
            group.stack = frames.into_iter().map(str::to_owned).collect();
        }
    }
    let named = all.into_iter().map(|(names, (group, lived_ns, _))| PageGroup {
        names,
        lifetime_mean_ns: lived_ns.checked_div(group.ended).unwrap_or(0),
        ..group
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_call_site_is_the_first_frame_outside_of_the_page_allocator() {
        for of_it in
            ["__alloc_frozen_pages_noprof+0x26b", "alloc_pages_mpol+0x86", "__get_free_pages"]
        {
            assert!(is_page_allocator(of_it), "{of_it}");
        }
        for other in ["anon_pipe_write+0x1a8", "alloc_page_buffers+0x1", "folio_alloc_buffers"] {
            assert!(!is_page_allocator(other), "{other}");
        }
    }

    #[test]
    fn makers_of_slabs_are_known_in_all_generations() {
        for maker in
            ["allocate_slab+0x2", "___slab_alloc+0x9", "cache_grow_begin", "new_slab.isra.0"]
        {
            assert!(SLAB_MAKERS.contains(&plain(maker)), "{maker}");
        }
        // A large block of kmalloc's is not a slab.
        assert!(!SLAB_MAKERS.contains(&plain("___kmalloc_large_node+0x7")));
    }

    #[test]
    fn migrate_types_have_the_names_of_their_release() {
        assert_eq!(migrate_type(1, Release::of("6.18.4")), "movable");
        assert_eq!(migrate_type(1, Release::of("3.16.0")), "reclaimable");
        assert_eq!(
            (migrate_type(9, None), migrate_type(NO_BYTE, None)),
            ("type 9".into(), UNKNOWN.into())
        );
    }
}
