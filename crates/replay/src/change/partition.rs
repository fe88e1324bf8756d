//! kmalloc's objects kept apart by call site, as Linux can be configured to.
//!
//! # How it works
//! Each class gets copies, and a table tells which copy serves which call site.
//!
//! Linux counterpart: `kmalloc_type` in `include/linux/slab.h` with `CONFIG_RANDOM_KMALLOC_CACHES` @ 6.6 and later;
//! `kmem_buckets_create` in `mm/slab_common.c` with `CONFIG_SLAB_BUCKETS` @ 6.11 and later, and its users in `mm/util.c`
//! and `ipc/msgutil.c`.
//!
//! By type the copy is the type's token ([`slablab_linux::alloc_token`]), which callers bring.
//!
//! # Differences from Linux
//! Where the compiler knows the size, Linux hashes the address to which the calling function
//! returns. Events do not have that address; here the call site's own is hashed in every case. Over seeds both are
//! equally random, but Linux spreads one call site over as many copies as it has callers: 16 copies took 2 to 11 % more
//! in guests of 6.12 than here. Taking every place that could call the function for a caller was tried as well: it comes
//! to 30 % more than in guests.

use slablab_kmem::{CopiesApply, CopyOfSite};
use slablab_trace::Meta;

use crate::change::select::function;

/// `GOLDEN_RATIO_64` of `include/linux/hash.h`.
const GOLDEN_RATIO_64: u64 = 0x61c8_8646_80b5_83eb;

/// Sets of buckets, and the functions that allocate from them.
const BUCKETS: [(&str, &[&str]); 2] = [
    ("memdup_user-", &["memdup_user", "vmemdup_user", "memdup_user_nul"]),
    ("msg_msg-", &["load_msg", "alloc_msg"]),
];

/// How kmalloc's objects are kept apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Partition {
    /// By a hash of the call site (`CONFIG_RANDOM_KMALLOC_CACHES`)
    Random {
        /// Copies of each class, a power of two
        copies: u32,
        /// The seed that the kernel draws at boot
        seed: u64,
    },
    /// Objects whose size and content user space decides (`CONFIG_SLAB_BUCKETS`)
    Buckets,
    /// By type (`CONFIG_KMALLOC_PARTITION_TYPED`)
    Typed {
        /// Copies of each class
        copies: u32,
        /// The copy of each call site of the trace
        of_sites: Vec<u16>,
    },
}

impl Partition {
    /// Returns how many copies of each class there are.
    pub(crate) fn copies(&self) -> u32 {
        match self {
            Self::Random { copies, .. } | Self::Typed { copies, .. } => *copies,
            Self::Buckets => BUCKETS.len() as u32 + 1,
        }
    }

    /// Returns whether the copies are never merged with other caches, as Linux has it.
    pub(crate) fn is_never_merged(&self) -> bool {
        matches!(self, Self::Random { .. } | Self::Typed { .. })
    }

    /// Returns which copy serves which call site of a trace.
    pub(crate) fn copy_of_site(&self, meta: &Meta) -> CopyOfSite {
        let copies = (1u64..).zip(&meta.sites).map(|(number, site)| match self {
            Self::Random { copies, seed } => {
                // Where addresses were stripped, any other number of the site is equally random.
                let address = if site.address == 0 { number } else { site.address };
                hash_64(address ^ *seed, copies.ilog2()) as u16
            }
            Self::Buckets => {
                let name = function(&site.name);
                let name = name.split('.').next().unwrap_or(name);
                let set = BUCKETS.iter().position(|(_, functions)| functions.contains(&name));
                set.map_or(0, |set| set as u16 + 1)
            }
            Self::Typed { of_sites, .. } => of_sites.get(number as usize - 1).copied().unwrap_or(0),
        });
        let (prefixes, applies) = match self {
            Self::Random { .. } => (Vec::new(), CopiesApply::ToNormal),
            Self::Typed { copies, .. } => {
                let prefixes = (1..*copies).map(|copy| format!("kmalloc-part-{copy:02}-"));
                (prefixes.collect(), CopiesApply::ToNormal)
            }
            Self::Buckets => {
                let prefixes = BUCKETS.iter().map(|(prefix, _)| (*prefix).to_owned());
                (prefixes.collect(), CopiesApply::ToAll)
            }
        };
        CopyOfSite { copies: copies.collect(), prefixes, applies }
    }
}

/// Returns the highest `bits` of a number's product with a constant that mixes them (`hash_64_generic`).
fn hash_64(value: u64, bits: u32) -> u64 {
    value.wrapping_mul(GOLDEN_RATIO_64).checked_shr(u64::BITS - bits).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use slablab_trace::Site;

    #[test]
    fn a_call_site_has_one_copy_and_another_seed_another() {
        assert_eq!((hash_64(1, 4), hash_64(1, 0), hash_64(u64::MAX, 3)), (6, 0, 4));
        let site = |name: &str, address| Site { name: name.into(), address, ..Site::default() };
        let sites = (0..64).map(|i| site("f+0x1", 0xffff_ffff_8100_0000 + i * 37)).collect();
        let meta = Meta { sites, ..Meta::default() };
        let of = |seed| Partition::Random { copies: 16, seed }.copy_of_site(&meta).copies;
        assert!(of(1).iter().all(|copy| *copy < 16) && of(1) != of(2) && of(1) == of(1));
        let mut used = of(1);
        used.sort_unstable();
        used.dedup();
        assert!(used.len() > 12, "{used:?}");
    }

    #[test]
    fn buckets_serve_what_user_space_decides() {
        let names = ["memdup_user+0x2", "load_msg.isra.0+0x9", "kstrdup+0x1"];
        let sites = names.map(|name| Site { name: name.into(), ..Site::default() }).to_vec();
        let of = Partition::Buckets.copy_of_site(&Meta { sites, ..Meta::default() });
        assert_eq!((of.copies, of.applies), (vec![1, 2, 0], CopiesApply::ToAll));
    }
}
