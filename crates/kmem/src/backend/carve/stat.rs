//! Paths that SLOB and SLMB count.

crate::cache::paths::backend_stats! {
    ALLOC_FROM_PARTIAL "alloc_from_partial", // from a page on a list
    FREE_ADD_PARTIAL "free_add_partial", // put a page on a list
    FREE_REMOTE "free_remote", // to a page of another CPU
    PAGES_WALKED "pages_walked", // looked at before one fitted
}
