//! Paths that SLUB_TINY counts.

crate::cache::paths::backend_stats! {
    FREE_ADD_PARTIAL "free_add_partial", // put a slab on the node's list
    FREE_REMOVE_PARTIAL "free_remove_partial", // took a slab off the node's list
}
