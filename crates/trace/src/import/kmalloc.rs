//! Which of kmalloc's caches an allocation is from, which no event says.
//!
//! How it works: they are told by the bytes given and the gfp flags, as `kmalloc_type` chooses them, and by the call sites
//! that have caches of their own (`kmem_buckets_create`).
//!
//! Linux counterpart: `include/linux/slab.h`, `mm/slab_common.c` @ 6.18.

/// gfp flags that choose a kmalloc cache.
const GFP_DMA: u32 = 1;
const GFP_RECLAIMABLE: u32 = 0x10;
const GFP_ACCOUNT: u32 = 0x40_0000;

/// Returns the name of the kmalloc cache that gives `bytes` to the call site called `site`.
pub(crate) fn kmalloc_cache(bytes: u64, gfp: u32, site: &str) -> String {
    class_name(kmalloc_kind(gfp, kmalloc_bucket(site)), bytes)
}

/// Returns the kind of caches that a call site has for its own.
pub(super) fn kmalloc_bucket(site: &str) -> Option<&'static str> {
    match site.split('+').next().unwrap_or_default() {
        "alloc_msg" | "load_msg" => Some("msg_msg"),
        "memdup_user" | "vmemdup_user" | "strndup_user" => Some("memdup_user"),
        _ => None,
    }
}

/// Returns which of kmalloc's caches of a size serves an allocation; `bucket` is the call site's own kind.
pub(super) fn kmalloc_kind(gfp: u32, bucket: Option<&'static str>) -> &'static str {
    bucket.unwrap_or(match gfp {
        gfp if gfp & GFP_DMA != 0 => "dma-kmalloc",
        gfp if gfp & GFP_RECLAIMABLE != 0 => "kmalloc-rcl",
        gfp if gfp & GFP_ACCOUNT != 0 => "kmalloc-cg",
        _ => "kmalloc",
    })
}

/// Returns the name of one of these caches.
pub(super) fn class_name(kind: &str, bytes: u64) -> String {
    match bytes {
        1024..=8192 => format!("{kind}-{}k", bytes / 1024),
        _ => format!("{kind}-{bytes}"),
    }
}
