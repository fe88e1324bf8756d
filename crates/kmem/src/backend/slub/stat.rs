//! Paths that SLUB counts: those of `enum stat_item` in `include/linux/slub_def.h` @ 6.1.

crate::cache::paths::backend_stats! {
    FREE_FROZEN "free_frozen", // to a slab that some CPU has frozen
    FREE_ADD_PARTIAL "free_add_partial", // put a slab on the node's list
    FREE_REMOVE_PARTIAL "free_remove_partial", // took a slab off the node's list
    ALLOC_FROM_PARTIAL "alloc_from_partial", // CPU slab from the node's list
    ALLOC_REFILL "alloc_refill", // CPU's free list from the slab's own
    ALLOC_NODE_MISMATCH "alloc_node_mismatch", // CPU slab on the wrong node
    CPUSLAB_FLUSH "cpuslab_flush", // CPU slab given up by a flush
    DEACTIVATE_FULL "deactivate_full",
    DEACTIVATE_EMPTY "deactivate_empty",
    DEACTIVATE_TO_HEAD "deactivate_to_head", // of the node's list
    DEACTIVATE_TO_TAIL "deactivate_to_tail",
    DEACTIVATE_REMOTE_FREES "deactivate_remote_frees", // slab held objects freed elsewhere
    DEACTIVATE_BYPASS "deactivate_bypass", // CPU slab left because it was full
    CMPXCHG_DOUBLE_FAIL "cmpxchg_double_fail", // update of a slab's word tried again
    CPU_PARTIAL_ALLOC "cpu_partial_alloc", // CPU slab from the CPU's partial list
    CPU_PARTIAL_FREE "cpu_partial_free", // slab put on the CPU's list by a free
    CPU_PARTIAL_NODE "cpu_partial_node", // slab moved there from the node's list
    CPU_PARTIAL_DRAIN "cpu_partial_drain", // CPU's list moved to the node's
}
