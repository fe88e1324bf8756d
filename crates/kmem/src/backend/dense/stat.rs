//! Paths that dense counts.

crate::cache::paths::backend_stats! {
    ALLOC_FROM_PARTIAL "alloc_from_partial", // from a slab on a node's list
    FREE_ADD_PARTIAL "free_add_partial", // put a slab on the node's list
    FREE_REMOVE_PARTIAL "free_remove_partial", // took a slab off the node's list
    FREE_REMOTE "free_remote", // to another node
    MAGAZINE_GROW "magazine_grow", // a magazine may hold more
    MAGAZINE_SHRINK "magazine_shrink", // a magazine may hold less, or nothing
}
