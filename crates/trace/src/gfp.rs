//! gfp flags by name, as traces print them and as source has them.
//!
//! Linux counterpart: `include/trace/events/mmflags.h`; numbers of 6.18, also for older kernels, which
//! numbered some bits differently: a text does not say which it was.

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

/// Reads `GFP_KERNEL|__GFP_ZERO`, `0xcc0` or `none`; a name that is not known adds nothing.
pub(crate) fn parse(text: &str) -> u32 {
    text.split('|').map(flag).fold(0, |all, flag| all | flag)
}

/// Returns the flags as source has them: `GFP_KERNEL | __GFP_ZERO`; `0` for none.
#[must_use]
pub fn gfp_text(gfp: u32) -> String {
    let mut left = gfp;
    let mut names: Vec<String> = Vec::new();
    if let Some((set, bits)) = SETS.iter().find(|(_, bits)| gfp & bits == *bits) {
        names.push((*set).to_owned());
        left &= !bits;
    }
    for (bit, name) in BITS.split(' ').enumerate() {
        if left & 1 << bit != 0 {
            names.push(format!("__GFP_{name}"));
            left &= !(1 << bit);
        }
    }
    if left != 0 || names.is_empty() {
        names.push(if left == 0 { "0".to_owned() } else { format!("{left:#x}") });
    }
    names.join(" | ")
}

fn flag(name: &str) -> u32 {
    if let Some(hexadecimal) = name.strip_prefix("0x") {
        return u32::from_str_radix(hexadecimal, 16).unwrap_or(0);
    }
    if let Some((_, bits)) = SETS.iter().find(|(set, _)| *set == name) {
        return *bits;
    }
    let short = name.strip_prefix("__GFP_").or(name.strip_prefix("GFP_")).unwrap_or(name);
    BITS.split(' ').position(|bit| bit == short).map_or(0, |bit| 1 << bit)
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_sets_and_numbers_add_up() {
        assert_eq!(super::parse("GFP_KERNEL|__GFP_ZERO"), 0xdc0);
        assert_eq!(super::parse("GFP_KERNEL_ACCOUNT"), 0x40_0cc0);
        assert_eq!(super::parse("0xcc0|0x100"), 0xdc0);
        assert_eq!(super::parse("none"), 0);
        assert_eq!(super::parse("GFP_DMA"), 1);
    }

    #[test]
    fn flags_are_written_as_source_has_them() {
        assert_eq!(super::gfp_text(0xdc0), "GFP_KERNEL | __GFP_ZERO");
        assert_eq!(super::gfp_text(0x40_0dc0), "GFP_KERNEL_ACCOUNT | __GFP_ZERO");
        assert_eq!(super::gfp_text(0x2820), "GFP_ATOMIC | __GFP_NOWARN");
        assert_eq!(super::gfp_text(0x2800), "GFP_NOWAIT");
        assert_eq!(super::gfp_text(0), "0");
        assert_eq!(super::gfp_text(0x8000_0000), "0x80000000");
    }
}
