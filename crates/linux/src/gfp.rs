//! `gfp_t`: how an allocation may get its memory, as bits and by name.
//!
//! # How it works
//! Bits are those of a kernel without KASAN and lockdep. They are the same from 6.1 to 7.3 but for two: bit 9 is
//! `__GFP_ATOMIC` up to 6.3, and bit 24 `__GFP_NO_OBJ_EXT` from 6.10 to 6.19. A text does not say which kernel wrote it, so
//! names of all releases are read. Where the release is not known, flags are named as 6.18 names them.
//!
//! Linux counterpart: `include/linux/gfp_types.h`, `include/trace/events/mmflags.h` @ 6.1 to 7.3.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use core::ops::{BitOr, BitOrAssign};

use crate::release::Release;

/// Flags of an allocation, with the kernel's own bit values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Gfp(pub u32);

impl Gfp {
    /// No flags.
    pub const NONE: Self = Self(0);
    /// From the DMA zone (below 16 MiB).
    pub const DMA: Self = Self(1 << 0);
    /// From the DMA32 zone (below 4 GiB).
    pub const DMA32: Self = Self(1 << 2);
    /// The memory can be reclaimed: goes to `kmalloc-rcl-*`.
    pub const RECLAIMABLE: Self = Self(1 << 4);
    /// May use the emergency reserves in part.
    pub const HIGH: Self = Self(1 << 5);
    /// May start input and output.
    pub const IO: Self = Self(1 << 6);
    /// May call into file systems.
    pub const FS: Self = Self(1 << 7);
    /// Return zeroed memory.
    pub const ZERO: Self = Self(1 << 8);
    /// May reclaim memory directly, hence sleep: where memory is short, the page lists of all CPUs are emptied for it.
    pub const DIRECT_RECLAIM: Self = Self(1 << 10);
    /// May wake kswapd.
    pub const KSWAPD_RECLAIM: Self = Self(1 << 11);
    /// No warning on failure.
    pub const NOWARN: Self = Self(1 << 13);
    /// Must not fail. Nothing here reads it: an allocation without memory is `None`, as it would wait for ever.
    pub const NOFAIL: Self = Self(1 << 15);
    /// Give up early.
    pub const RETRY_MAYFAIL: Self = Self(1 << 14);
    /// `__GFP_NORETRY`.
    pub const NORETRY: Self = Self(1 << 16);
    /// May use all of the reserves, those for requests of lower zones as well.
    pub const MEMALLOC: Self = Self(1 << 17);
    /// Compound page.
    pub const COMP: Self = Self(1 << 18);
    /// Only from the node asked for.
    pub const THISNODE: Self = Self(1 << 21);
    /// Charged to a control group: goes to `kmalloc-cg-*`.
    pub const ACCOUNT: Self = Self(1 << 22);
    /// No vector of accounting for the slab, as it is for such a vector (6.10 to 6.19).
    pub const NO_OBJ_EXT: Self = Self(1 << 24);

    /// `GFP_KERNEL`.
    pub const KERNEL: Self =
        Self(Self::DIRECT_RECLAIM.0 | Self::KSWAPD_RECLAIM.0 | Self::IO.0 | Self::FS.0);
    /// `GFP_KERNEL_ACCOUNT`.
    pub const KERNEL_ACCOUNT: Self = Self(Self::KERNEL.0 | Self::ACCOUNT.0);
    /// `GFP_ATOMIC`.
    pub const ATOMIC: Self = Self(Self::HIGH.0 | Self::KSWAPD_RECLAIM.0);
    /// `GFP_NOWAIT`.
    pub const NOWAIT: Self = Self(Self::KSWAPD_RECLAIM.0);

    /// Returns whether all of `flags` are set.
    #[inline(always)]
    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Returns the flags without `flags`.
    #[inline(always)]
    pub const fn without(self, flags: Self) -> Self {
        Self(self.0 & !flags.0)
    }

    /// Reads `GFP_KERNEL|__GFP_ZERO`, `0xcc0` or `none`; a name that is not known adds nothing.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        text.split('|').map(flag).fold(Self::NONE, |all, flag| all | flag)
    }

    /// Returns the flags as the source of a release has them: `GFP_KERNEL | __GFP_ZERO`; `0` for none.
    #[must_use]
    pub fn text(self, release: Option<Release>) -> String {
        let mut left = self.0;
        let mut names: Vec<String> = Vec::new();
        let is_old = release.is_some_and(|release| release < Release(6, 4));
        let old = if is_old { &OLD_SETS[..] } else { &[] };
        if let Some((set, bits)) = old.iter().chain(&SETS).find(|(_, bits)| left & bits == *bits) {
            names.push((*set).into());
            left &= !bits;
        }
        for (bit, name) in BITS.split(' ').enumerate() {
            if left & 1 << bit != 0
                && let Some(name) = name_in(bit, name, release)
            {
                names.push(format!("__GFP_{name}"));
                left &= !(1 << bit);
            }
        }
        if left != 0 || names.is_empty() {
            names.push(if left == 0 { "0".into() } else { format!("{left:#x}") });
        }
        names.join(" | ")
    }
}

/// The flags from bit 0 on.
const BITS: &str = "DMA HIGHMEM DMA32 MOVABLE RECLAIMABLE HIGH IO FS ZERO UNUSED DIRECT_RECLAIM KSWAPD_RECLAIM \
    WRITE NOWARN RETRY_MAYFAIL NOFAIL NORETRY MEMALLOC COMP NOMEMALLOC HARDWALL THISNODE ACCOUNT ZEROTAGS \
    NO_OBJ_EXT";

/// Sets of flags that have a name; a larger one stands before those it holds.
const SETS: [(&str, u32); 12] = [
    ("GFP_TRANSHUGE", 0x1c_24ca | 0x400),
    ("GFP_TRANSHUGE_LIGHT", 0x1c_20ca),
    ("GFP_HIGHUSER_MOVABLE", 0x10_0cca),
    ("GFP_HIGHUSER", 0x10_0cc2),
    ("GFP_USER", 0x10_0cc0),
    ("GFP_KERNEL_ACCOUNT", 0x40_0cc0),
    ("GFP_KERNEL", 0xcc0),
    ("GFP_NOFS", 0xc40),
    ("GFP_ATOMIC", 0x820),
    ("GFP_NOIO", 0xc00),
    ("__GFP_RECLAIM", 0xc00),
    ("GFP_NOWAIT", 0x2800),
];

/// Sets that had other flags up to 6.3.
const OLD_SETS: [(&str, u32); 1] = [("GFP_ATOMIC", 0xa20)];

/// Returns what a release calls a flag, where it has it.
fn name_in(bit: usize, name: &str, release: Option<Release>) -> Option<&str> {
    match (bit, release) {
        (9, Some(release)) if release < Release(6, 4) => Some("ATOMIC"),
        (24, Some(release)) => (Release(6, 10)..Release(7, 0)).contains(&release).then_some(name),
        _ => Some(name),
    }
}

fn flag(name: &str) -> Gfp {
    if let Some(hexadecimal) = name.strip_prefix("0x") {
        return Gfp(u32::from_str_radix(hexadecimal, 16).unwrap_or(0));
    }
    if let Some((_, bits)) = SETS.iter().find(|(set, _)| *set == name) {
        return Gfp(*bits);
    }
    let short = name.strip_prefix("__GFP_").or(name.strip_prefix("GFP_")).unwrap_or(name);
    // Printed beside the set that holds it only by kernels up to 6.3.
    let short = if short == "ATOMIC" { "UNUSED" } else { short };
    Gfp(BITS.split(' ').position(|bit| bit == short).map_or(0, |bit| 1 << bit))
}

impl BitOr for Gfp {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Gfp {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sets_and_numbers_add_up() {
        let parse = |text| Gfp::parse(text).0;
        assert_eq!(parse("GFP_KERNEL|__GFP_ZERO"), 0xdc0);
        assert_eq!(parse("GFP_KERNEL_ACCOUNT"), 0x40_0cc0);
        assert_eq!(parse("0xcc0|0x100"), 0xdc0);
        assert_eq!(parse("none"), 0);
        assert_eq!(parse("GFP_DMA"), 1);
        assert_eq!(parse("GFP_ATOMIC|__GFP_ATOMIC"), 0xa20);
    }

    #[test]
    fn flags_are_written_as_source_has_them() {
        let text = |gfp| Gfp(gfp).text(None);
        assert_eq!(text(0xdc0), "GFP_KERNEL | __GFP_ZERO");
        assert_eq!(text(0x40_0dc0), "GFP_KERNEL_ACCOUNT | __GFP_ZERO");
        assert_eq!(text(0x2820), "GFP_ATOMIC | __GFP_NOWARN");
        assert_eq!(text(0x2800), "GFP_NOWAIT");
        assert_eq!(text(0), "0");
        assert_eq!(text(0x8000_0000), "0x80000000");
    }

    #[test]
    fn two_bits_have_the_names_of_their_release() {
        let text = |gfp, major, minor| Gfp(gfp).text(Some(Release(major, minor)));
        assert_eq!(text(0xa20, 6, 1), "GFP_ATOMIC");
        assert_eq!(text(0x820, 6, 12), "GFP_ATOMIC");
        assert_eq!(text(0x100_0cc0, 6, 18), "GFP_KERNEL | __GFP_NO_OBJ_EXT");
        assert_eq!(text(0x100_0cc0, 7, 3), "GFP_KERNEL | 0x1000000");
    }
}
