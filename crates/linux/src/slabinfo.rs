//! A line of `/proc/slabinfo`.
//!
//! Linux counterpart: `cache_show` in `mm/slab_common.c` (slabinfo 2.1) @ 6.1.

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlabInfo<'a> {
    /// The cache's name.
    pub name: &'a str,
    /// Objects in use.
    pub active_objs: u64,
    /// Objects there is room for.
    pub num_objs: u64,
    /// Bytes between objects.
    pub objsize: u64,
    /// Objects in a slab.
    pub objperslab: u64,
    /// Pages in a slab.
    pub pagesperslab: u64,
    /// Slabs in use.
    pub active_slabs: u64,
    /// Slabs.
    pub num_slabs: u64,
}

impl<'a> SlabInfo<'a> {
    /// Reads a line; `None` for a heading, or a line that is damaged.
    #[must_use]
    pub fn parse(line: &'a str) -> Option<Self> {
        // name 5 numbers : tunables 3 numbers : slabdata 3 numbers
        let (head, tail) = line.split_once(" : tunables")?;
        let (_, slabdata) = tail.split_once(": slabdata")?;
        let mut head = head.split_ascii_whitespace();
        let mut slabdata = slabdata.split_ascii_whitespace().map(|word| word.parse().ok());
        let name = head.next()?;
        let mut number = || head.next()?.parse().ok();
        let info = SlabInfo {
            name,
            active_objs: number()?,
            num_objs: number()?,
            objsize: number()?,
            objperslab: number()?,
            pagesperslab: number()?,
            active_slabs: slabdata.next()??,
            num_slabs: slabdata.next()??,
        };
        // The last number says nothing with SLUB, but a line without it is cut, and so may be the number before it.
        let _: u64 = slabdata.next()??;
        Some(info)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_and_a_cut_one_is_not() {
        let line = "filp 1216 1323 192 21 1 : tunables 0 0 0 : slabdata 63 64 0";
        let info = SlabInfo::parse(line).unwrap();
        assert_eq!((info.name, info.objsize, info.num_slabs), ("filp", 192, 64));
        for damaged in [&line[..line.len() - 2], "slabinfo - version: 2.1", "filp 1216", ""] {
            assert_eq!(SlabInfo::parse(damaged), None);
        }
    }
}
