//! Who of a call stack is the owner of what was allocated: the first frame that does not allocate for its callers.
//!
//! # How it works
//! A *helper* is a function that allocates for whoever calls it: `kstrdup`, `kvmalloc`, `__alloc_skb`. Three sources say
//! which functions are: lists of those that Linux has (`helper_names`), the names that a user adds, and a rule ([`Callers`])
//! for those of a module that is in no list: what a function allocates goes to many callers, and to none of them most. The
//! owner is the first frame, from the allocation outwards, that is none.
//!
//! A frame is `function`, `function+0x1c` or `function+0x1c [module]`; what a compiler puts behind a name (`.isra.0`) and
//! `_noprof`, which 6.10 added to names, do not count.
//!
//! Linux counterpart: none.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use crate::helper_names::{NAMES, OBJECTS, PREFIXES};

/// A helper that is found by rule has at least this number of callers.
const CALLERS_MIN: usize = 8;
/// It would have at least this number if all got equally much: the inverse of the sum of the squares of their shares.
const CALLERS_EVEN_MIN: f64 = 4.0;

/// Returns the function of a frame: without offset, module, and what a compiler or a release puts behind its name.
#[must_use]
pub fn function_of(frame: &str) -> &str {
    let end = frame.find(['+', ' ', '.']).unwrap_or(frame.len());
    let name = if end == 0 { frame } else { &frame[..end] };
    name.strip_suffix("_noprof").filter(|name| !name.is_empty()).unwrap_or(name)
}

/// Which functions allocate for their callers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Helpers {
    more: BTreeSet<String>,
}

impl Helpers {
    /// Those that Linux has.
    #[must_use]
    pub fn known() -> Self {
        Self::default()
    }

    /// Adds functions: a user's, or those that [`Callers`] finds.
    #[must_use]
    pub fn and<S: AsRef<str>>(mut self, functions: impl IntoIterator<Item = S>) -> Self {
        self.more.extend(functions.into_iter().map(|name| function_of(name.as_ref()).to_owned()));
        self
    }

    /// Tells whether a frame is of a helper.
    #[must_use]
    pub fn has(&self, frame: &str) -> bool {
        self.has_of_any_size(frame) || OBJECTS.binary_search(&function_of(frame)).is_ok()
    }

    /// Tells whether a frame is of a helper whose callers ask for what they need: their next object may be of another size.
    #[must_use]
    pub fn has_of_any_size(&self, frame: &str) -> bool {
        let name = function_of(frame);
        PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            || NAMES.binary_search(&name).is_ok()
            || self.more.contains(name)
    }

    /// Returns the place of the owner in a stack, whose first frame is that nearest to the allocation: the first that is
    /// not a helper, the last one where all are; 0 of an empty stack.
    #[must_use]
    pub fn owner<S: AsRef<str>>(&self, frames: &[S]) -> usize {
        let first = frames.iter().position(|frame| !self.has(frame.as_ref()));
        first.unwrap_or_else(|| frames.len().saturating_sub(1))
    }
}

/// For whom functions allocate, to find helpers that are in no list.
#[derive(Debug, Clone, Default)]
pub struct Callers {
    /// By function, what each caller of it got
    of: BTreeMap<String, BTreeMap<String, u64>>,
}

impl Callers {
    /// Adds a stack, nearest frame first, with its number of allocations. What counts are the frames up to the owner, which
    /// `helpers` knows, and who called that.
    pub fn add<S: AsRef<str>>(&mut self, helpers: &Helpers, frames: &[S], allocs: u64) {
        let owner = helpers.owner(frames);
        let [owner, caller] = [owner, owner + 1].map(|at| frames.get(at).map(AsRef::as_ref));
        let (Some(owner), Some(caller)) = (owner, caller) else { return };
        let callers = self.of.entry(function_of(owner).to_owned()).or_default();
        *callers.entry(function_of(caller).to_owned()).or_default() += allocs;
    }

    /// Returns the functions whose allocations go to many callers.
    #[must_use]
    pub fn helpers(&self) -> Vec<&str> {
        let is_helper = |callers: &BTreeMap<String, u64>| {
            let all: u64 = callers.values().sum();
            let share = |allocs: &u64| *allocs as f64 / all.max(1) as f64;
            let squares: f64 = callers.values().map(|allocs| share(allocs) * share(allocs)).sum();
            callers.len() >= CALLERS_MIN && squares * CALLERS_EVEN_MIN <= 1.0
        };
        let found = self.of.iter().filter(|(_, callers)| is_helper(callers));
        found.map(|(function, _)| function.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn the_owner_is_the_first_frame_that_is_no_helper() {
        let stack = ["__kmalloc_node_track_caller_noprof+0x1a0", "kstrdup+0x35"];
        let called = [stack[0], stack[1], "session_open+0x3c [session]", "do_syscall_64+0x5d"];
        let helpers = Helpers::known();
        assert_eq!((helpers.owner(&called), helpers.owner(&stack)), (2, 1));
        assert_eq!(helpers.owner::<&str>(&[]), 0);
        let helpers = helpers.and(["session_open"]);
        assert_eq!(helpers.owner(&called), 3);
    }

    /// "Owner" was the allocator itself where it is not kmalloc: of per-CPU memory, vmalloc, DMA and others.
    #[test]
    fn no_allocator_of_linux_is_an_owner() {
        let helpers = Helpers::known();
        for stack in [
            "pcpu_alloc_noprof __alloc_percpu_gfp_noprof",
            "pcpu_create_chunk pcpu_alloc __alloc_percpu",
            "pcpu_mem_zalloc pcpu_alloc_chunk pcpu_create_chunk pcpu_alloc_noprof __alloc_reserved_percpu",
            "alloc_vmap_area __get_vm_area_node.isra.0 __vmalloc_node_range_noprof vmalloc_user_noprof",
            "__vmalloc_node vzalloc",
            "__kmalloc_large_node ___kmalloc_large_node __vmalloc_area_node vmalloc_huge_node_noprof",
            "__alloc_pages dma_direct_alloc dma_alloc_attrs",
            "iommu_dma_alloc dma_alloc_attrs dmam_alloc_attrs",
            "dma_pool_alloc",
            "__kmalloc sg_kmalloc __sg_alloc_table sg_alloc_table_chained",
            "kmem_cache_alloc_node skb_clone",
            "kmalloc_reserve __alloc_skb skb_copy",
            "slab_alloc_node.constprop.0 kmem_cache_alloc_bulk_noprof",
            "alloc_pages_mpol get_free_pages_noprof",
            "__get_free_pages get_zeroed_page",
            "alloc_dr __devres_alloc_node devm_request_threaded_irq",
            "kmalloc_node_track_caller devm_kmalloc devm_kasprintf",
            "__kmalloc bitmap_zalloc",
            "kmem_cache_alloc_lru xas_alloc xas_create xas_store __xa_store xa_store",
            "kmem_cache_alloc radix_tree_node_alloc.constprop.0 idr_get_free idr_alloc_u32 idr_alloc",
            "mt_alloc_bulk mas_alloc_nodes mas_node_count_gfp mas_preallocate",
            "__refill_objects refill_sheaf __pcs_replace_empty_main kmem_cache_alloc_noprof vm_area_alloc",
            "cache_grow_begin cache_alloc_refill ____cache_alloc __kmalloc_node",
            "mempool_alloc_slab mempool_alloc bio_alloc_bioset",
            "kvmalloc_node seq_buf_alloc",
        ] {
            let frames: Vec<&str> =
                stack.split(' ').chain(["my_driver_probe", "really_probe"]).collect();
            assert_eq!(frames[helpers.owner(&frames)], "my_driver_probe", "{stack}");
        }
        assert!(helpers.has_of_any_size("devm_kmalloc") && !helpers.has_of_any_size("seq_open"));
        for owner in [
            "vmalloc_init",
            "pcpu_balance_workfn",
            "vmap_block_vaddr",
            "skb_segment",
            "device_add",
            "alloc_pid",
            "copy_process",
            "dma_fence_init",
            "sgx_alloc_epc_page",
            "kmem_dump_obj",
            "seq_read_iter",
        ] {
            assert!(!helpers.has(owner), "{owner}");
        }
    }

    #[test]
    fn names_are_compared_without_what_a_compiler_puts_behind_them() {
        let helpers = Helpers::known().and(["my_alloc.isra.0"]);
        for frame in ["kvmalloc_node_noprof+0x1", "d_alloc.part.0+0x4", "my_alloc.constprop.2"] {
            assert!(helpers.has(frame), "{frame}");
        }
        for frame in ["d_allocate+0x1", "load_elf_binary", "", "0xffffffff81000000", ".x"] {
            assert!(!helpers.has(frame), "{frame}");
        }
        assert_eq!(function_of("f.isra.0+0x1 [m]"), "f");
        assert!(NAMES.is_sorted() && OBJECTS.is_sorted() && PREFIXES.is_sorted());
    }

    #[test]
    fn what_allocates_for_many_callers_is_found_to_be_a_helper() {
        let mut callers = Callers::default();
        let known = Helpers::known();
        for caller in 0..12 {
            let caller = format!("user_{caller}+0x1 [m]");
            callers.add(&known, &["kmalloc+0x1", "my_alloc+0x8 [m]", &caller, "main"], 5);
            // Many callers, but nearly all for one.
            let allocs = if caller.contains("_3+") { 900 } else { 1 };
            callers.add(&known, &["kmalloc+0x1", "open_file+0x2 [m]", &caller], allocs);
        }
        callers.add(&known, &["kmalloc+0x1", "alone"], 1_000);
        assert_eq!(callers.helpers(), ["my_alloc"]);
        let helpers = known.and(callers.helpers());
        assert_eq!(helpers.owner(&["kmalloc", "my_alloc+0x9 [m]", "user_1+0x1 [m]"]), 2);
    }
}
