//! kmalloc's caches: their types, and their names in slabinfo.
//!
//! # How it works
//! A name is a family and a size: `kmalloc-64`, `kmalloc-rcl-1k`, `kmalloc-rnd-03-96`. gfp flags choose the family, and where
//! the kernel has several copies of each cache, the call site chooses the copy. A size is in bytes, in KiB with `k` behind it
//! where it is a multiple of 1,024, and in MiB with `M` likewise: kernels write `kmalloc-1k`, and `kmalloc-1536` where a
//! patch adds such a class.
//!
//! Linux counterpart: `kmalloc_info`, `kmalloc_type` in `mm/slab_common.c` and `include/linux/slab.h` @ 6.1 to 7.3;
//! `malloc_sizes` in `mm/slab.c` before 3.15.

use alloc::format;
use alloc::string::String;

use crate::gfp::Gfp;

/// Kind of memory that a cache of kmalloc holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KmallocType {
    /// `kmalloc-*`, and its copies
    Normal,
    /// `kmalloc-rcl-*`, for `__GFP_RECLAIMABLE`
    Reclaim,
    /// `dma-kmalloc-*`, for `__GFP_DMA`
    Dma,
    /// `kmalloc-cg-*`, for `__GFP_ACCOUNT`
    Cgroup,
    /// `kmalloc-no-objext-*`, for the vectors of accounting and allocation profiling themselves (6.12.103, 6.18.44,
    /// 7.1.8, 7.3)
    NoObjExt,
}

impl KmallocType {
    /// All types, in the order of their index.
    pub const ALL: [Self; 5] =
        [Self::Normal, Self::Reclaim, Self::Dma, Self::Cgroup, Self::NoObjExt];

    /// Returns what the names of its caches begin with.
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Normal => "kmalloc-",
            Self::Reclaim => "kmalloc-rcl-",
            Self::Dma => "dma-kmalloc-",
            Self::Cgroup => "kmalloc-cg-",
            Self::NoObjExt => "kmalloc-no-objext-",
        }
    }

    /// Returns which type gfp flags ask for, in a kernel that has those of DMA, reclaim and control groups.
    #[inline]
    #[must_use]
    pub const fn of(gfp: Gfp) -> Self {
        if gfp.has(Gfp::DMA) {
            Self::Dma
        } else if gfp.has(Gfp::RECLAIMABLE) {
            Self::Reclaim
        } else if gfp.has(Gfp::ACCOUNT) {
            Self::Cgroup
        } else {
            Self::Normal
        }
    }

    /// Returns the name of its cache of a size.
    #[must_use]
    pub fn name(self, bytes: u64) -> String {
        format!("{}{}", self.prefix(), size_name(bytes))
    }
}

/// A cache of kmalloc, as its name tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KmallocCache {
    /// Kind of memory
    pub kind: KmallocType,
    /// Which copy it is: from 1 on for `kmalloc-rnd-01-64` (6.6 to 7.1) and `kmalloc-part-01-64` (7.2 on), else 0
    pub copy: u16,
    /// Bytes of an object
    pub bytes: u64,
}

/// What copies are called before their number.
const COPIES: [&str; 2] = ["kmalloc-rnd-", "kmalloc-part-"];

impl KmallocCache {
    /// Reads a name of slabinfo; `None` where it is of no family that is known.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        if let Some(size) = name.strip_prefix("size-") {
            // Linux up to 2.6 and SLAB up to 3.14.
            let dma = size.strip_suffix("(DMA)");
            let kind = if dma.is_some() { KmallocType::Dma } else { KmallocType::Normal };
            return Some(Self { kind, copy: 0, bytes: size_of_name(dma.unwrap_or(size))? });
        }
        if let Some(rest) = COPIES.iter().find_map(|prefix| name.strip_prefix(prefix)) {
            let (copy, size) = rest.split_once('-')?;
            let copy = copy.parse().ok().filter(|copy| *copy > 0)?;
            return Some(Self { kind: KmallocType::Normal, copy, bytes: size_of_name(size)? });
        }
        KmallocType::ALL.into_iter().find_map(|kind| {
            let bytes = size_of_name(name.strip_prefix(kind.prefix())?)?;
            Some(Self { kind, copy: 0, bytes })
        })
    }

    /// Returns whether it is the usual cache of its size: of the normal type, and no further copy.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.kind == KmallocType::Normal && self.copy == 0
    }
}

/// Returns whether a cache is kmalloc's by its name, of a family that is known or not.
#[must_use]
pub fn is_kmalloc_name(name: &str) -> bool {
    name.contains("kmalloc-") || name.starts_with("size-") && KmallocCache::parse(name).is_some()
}

/// Returns a size as names of caches have it.
#[must_use]
pub fn size_name(bytes: u64) -> String {
    match bytes {
        0x10_0000.. if bytes.is_multiple_of(0x10_0000) => format!("{}M", bytes >> 20),
        1024.. if bytes.is_multiple_of(1024) => format!("{}k", bytes >> 10),
        _ => format!("{bytes}"),
    }
}

/// Returns the bytes that a size of a name means.
fn size_of_name(size: &str) -> Option<u64> {
    let (number, shift) = match size.as_bytes().last()? {
        b'k' => (&size[..size.len() - 1], 10),
        b'M' => (&size[..size.len() - 1], 20),
        _ => (size, 0),
    };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let number: u64 = number.parse().ok().filter(|number| is_number && *number > 0)?;
    number.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_family_lead_to_type_copy_and_size() {
        use KmallocType::{Cgroup, Dma, NoObjExt, Normal, Reclaim};
        for (name, kind, copy, bytes) in [
            ("kmalloc-8", Normal, 0, 8),
            ("kmalloc-8k", Normal, 0, 8192),
            ("kmalloc-1024", Normal, 0, 1024),
            ("kmalloc-2M", Normal, 0, 2 << 20),
            ("kmalloc-rcl-192", Reclaim, 0, 192),
            ("kmalloc-cg-4k", Cgroup, 0, 4096),
            ("dma-kmalloc-512", Dma, 0, 512),
            ("kmalloc-no-objext-64", NoObjExt, 0, 64),
            ("kmalloc-rnd-01-96", Normal, 1, 96),
            ("kmalloc-part-15-2k", Normal, 15, 2048),
            ("size-32", Normal, 0, 32),
            ("size-65536(DMA)", Dma, 0, 65536),
        ] {
            assert_eq!(
                KmallocCache::parse(name),
                Some(KmallocCache { kind, copy, bytes }),
                "{name}"
            );
            assert!(is_kmalloc_name(name));
        }
        for other in [
            "kmalloc-",
            "kmalloc-k",
            "kmalloc-new-64",
            "kmalloc-rnd-00-8",
            "kmalloc-+8",
            "size-x",
            "filp",
        ] {
            assert_eq!(KmallocCache::parse(other), None, "{other}");
        }
        assert!(is_kmalloc_name("kmalloc-new-64") && !is_kmalloc_name("size-x"));
    }

    /// Class names were made six times by three rules: some called 1,536 bytes `kmalloc-1k`.
    #[test]
    fn a_size_is_named_as_slabinfo_names_it() {
        let names = [8, 96, 1024, 1536, 8192, 1 << 20].map(|bytes| KmallocType::Normal.name(bytes));
        let expected =
            ["kmalloc-8", "kmalloc-96", "kmalloc-1k", "kmalloc-1536", "kmalloc-8k", "kmalloc-1M"];
        assert_eq!(names, expected);
        assert_eq!(KmallocType::Dma.name(64), "dma-kmalloc-64");
        assert_eq!(KmallocCache::parse("kmalloc-1536").unwrap().bytes, 1536);
    }

    #[test]
    fn flags_choose_the_type_in_the_order_of_the_kernel() {
        let of = |gfp| KmallocType::of(Gfp::KERNEL | gfp);
        assert_eq!(of(Gfp::NONE), KmallocType::Normal);
        assert_eq!(of(Gfp::ACCOUNT), KmallocType::Cgroup);
        assert_eq!(of(Gfp::ACCOUNT | Gfp::RECLAIMABLE), KmallocType::Reclaim);
        assert_eq!(of(Gfp::DMA | Gfp::RECLAIMABLE), KmallocType::Dma);
    }
}
