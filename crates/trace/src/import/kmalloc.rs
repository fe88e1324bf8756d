//! Which of kmalloc's caches an allocation is from; no event tells it.
//!
//! # How it works
//! The bytes given and the gfp flags tell them, as `kmalloc_type` chooses, and so do the call sites that
//! have caches of their own (`kmem_buckets_create`).
//!
//! Linux counterpart: `include/linux/slab.h`, `mm/slab_common.c` @ 6.18.

use slablab_linux::{Gfp, KmallocType, size_name};

/// Returns the name of the kmalloc cache that gives `bytes` to the call site called `site`, by what its gfp flags choose.
pub fn kmalloc_cache(bytes: u64, gfp: u32, site: &str) -> String {
    class_name(kmalloc_kind(gfp, kmalloc_bucket(site)), bytes)
}

/// Returns what the names of the caches begin with that a call site has for its own.
pub(super) fn kmalloc_bucket(site: &str) -> Option<&'static str> {
    match site.split('+').next().unwrap_or_default() {
        "alloc_msg" | "load_msg" => Some("msg_msg-"),
        "memdup_user" | "vmemdup_user" | "strndup_user" => Some("memdup_user-"),
        _ => None,
    }
}

/// Returns what the names of kmalloc's caches begin with that serve an allocation; `bucket` is the call site's own.
pub(super) fn kmalloc_kind(gfp: u32, bucket: Option<&'static str>) -> &'static str {
    bucket.unwrap_or(KmallocType::of(Gfp(gfp)).prefix())
}

/// Returns the name of one of these caches.
pub(super) fn class_name(prefix: &str, bytes: u64) -> String {
    format!("{prefix}{}", size_name(bytes))
}
