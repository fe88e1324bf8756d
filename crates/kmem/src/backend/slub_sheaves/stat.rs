//! Paths that SLUB with sheaves counts: those of `enum stat_item` in `mm/slub.c` @ 7.3.

crate::cache::paths::backend_stats! {
    FREE_ADD_PARTIAL "free_add_partial", // put a slab on the node's list
    FREE_REMOVE_PARTIAL "free_remove_partial", // took a slab off the node's list
    ALLOC_NODE_MISMATCH "alloc_node_mismatch", // for another node than that of the CPU's sheaves
    CMPXCHG_DOUBLE_FAIL "cmpxchg_double_fail", // update of a slab's word tried again
}

/// Place of the first counter of sheaves.
pub(super) const SHEAVES_AT: usize = crate::cache::paths::common::NAMES.len() + NAMES.len();
