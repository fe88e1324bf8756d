//! Paths that SLAB counts. They have the names of SLUB's where they are alike, since Linux's SLAB has no
//! such counters.

crate::cache::paths::backend_stats! {
    ALLOC_FROM_PARTIAL "alloc_from_partial", // array filled from a slab
    ALLOC_NODE_MISMATCH "alloc_node_mismatch", // from another node than the CPU's
    ALLOC_SHARED "alloc_shared", // array filled from the shared array
    FREE_SHARED "free_shared", // array emptied into the shared array
    FREE_REMOTE "free_remote", // to another node
}
