//! Free blocks of pages by order: `/proc/buddyinfo`, `/proc/pagetypeinfo`, and what the kernel prints when memory is short.
//!
//! # How it works
//! A list is known by what it is made of, wherever in its line it begins: a node, a zone, and counts by order. The kernel's
//! message (`Node 0 Normal: 3*4kB (UM) ... = 12kB`) also tells how large a page is. Of several lists of one zone the last one
//! counts.
//!
//! Linux counterpart: `frag_show_print()` and `pagetypeinfo_showfree_print()` in `mm/vmstat.c`, `show_free_areas()` in
//! `mm/show_mem.c` @ 6.1 to 7.3.

use serde::Serialize;

/// Orders that a list has at least: kernels with the smallest blocks have more than the types of pages, which follow in
/// pagetypeinfo in rows that look alike.
const ORDERS_MIN: usize = 8;
/// No kernel has blocks of more pages.
const ORDERS_MAX: usize = 21;
/// pagetypeinfo counts no further, and writes `>100000`, whose mark may be taken for that of a quotation.
const COUNTED_MAX: u64 = 100_000;
/// Lists that are kept: no machine has more, and a text must not fill the memory.
const LISTS_MAX: usize = 1 << 12;

/// The free blocks of a zone, or of one migrate type in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FreeBlocks {
    /// Whose they are, where the text names several hosts
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The NUMA node
    pub node: u32,
    /// The zone: `DMA32`, `Normal`
    pub zone: String,
    /// The migrate type, where the list has those of one: `Movable`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub migrate_type: Option<String>,
    /// How many blocks of two to the power of 0, 1, 2 ... pages are free
    pub blocks: Vec<u64>,
    /// Whether some of these are more than is told: `>100000`
    pub is_more: bool,
    /// Bytes of a page, where the list tells
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_bytes: Option<u64>,
    /// How many lists of it the text has; this is the last one
    pub lists: u64,
}

impl FreeBlocks {
    /// Returns the free pages.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.pages_from(0)
    }

    /// Returns the pages that are free in blocks of this order and above.
    #[must_use]
    pub fn pages_from(&self, order: usize) -> u64 {
        let pages = |(order, count): (usize, &u64)| count.saturating_mul(1 << order);
        let blocks = self.blocks.iter().enumerate().skip(order).map(pages);
        blocks.fold(0, u64::saturating_add)
    }

    /// Returns the order of the largest free block; `None` where nothing is free.
    #[must_use]
    pub fn largest(&self) -> Option<usize> {
        self.blocks.iter().rposition(|count| *count > 0)
    }

    /// Returns the share of the free memory that lies in blocks too small for a request of this order, which is the index of
    /// unusable free space; `None` where nothing is free.
    #[must_use]
    pub fn unusable(&self, order: usize) -> Option<f64> {
        let pages = self.pages();
        (pages > 0).then(|| 1.0 - self.pages_from(order) as f64 / pages as f64)
    }

    /// Returns whether it is of the same zone and type as another.
    fn is_of(&self, other: &FreeBlocks) -> bool {
        self.node == other.node
            && self.zone == other.zone
            && self.migrate_type == other.migrate_type
            && self.host == other.host
    }
}

/// Adds a list to others; it takes the place of an earlier one of the same zone and type.
pub(crate) fn add(lists: &mut Vec<FreeBlocks>, mut list: FreeBlocks) {
    list.lists = list.lists.max(1);
    if let Some(known) = lists.iter_mut().find(|known| known.is_of(&list)) {
        list.lists = list.lists.saturating_add(known.lists);
        *known = list;
    } else if lists.len() < LISTS_MAX {
        lists.push(list);
    }
}

/// Returns the list that the words are.
pub(crate) fn read(words: &[&str]) -> Option<FreeBlocks> {
    let Some(at) = words.iter().position(|word| *word == "Node") else {
        return without_node(words);
    };
    match &words[at + 1..] {
        [node, "zone", rest @ ..] => of_table(node, rest),
        [node, zone, rest @ ..] => of_message(node, zone.strip_suffix(':')?, rest),
        _ => None,
    }
}

/// Reads `Normal: 3*4kB 0*8kB ... = 12kB` of a kernel without NUMA, which has one node and does not name it.
fn without_node(words: &[&str]) -> Option<FreeBlocks> {
    const ZONES: [&str; 5] = ["DMA:", "DMA32:", "Normal:", "HighMem:", "Movable:"];
    let at = words.iter().position(|word| ZONES.contains(word))?;
    of_message("0", words[at].strip_suffix(':')?, &words[at + 1..])
}

/// Reads `Normal 216 55 189` and `Normal, type Movable 1 2 3` behind the node.
fn of_table(node: &str, words: &[&str]) -> Option<FreeBlocks> {
    let (zone, migrate_type, counts) = match words {
        [zone, "type", kind, counts @ ..] => (zone, Some((*kind).to_owned()), counts),
        [zone, counts @ ..] => (zone, None, counts),
        [] => return None,
    };
    let count = |word: &&str| word.strip_prefix('>').unwrap_or(word).parse().ok();
    let blocks: Vec<u64> = counts.iter().map(count).collect::<Option<_>>()?;
    let is_more = migrate_type.is_some() && blocks.contains(&COUNTED_MAX);
    let zone = zone.trim_end_matches(',').to_owned();
    let node = node.trim_end_matches(',').parse().ok()?;
    (ORDERS_MIN..=ORDERS_MAX).contains(&blocks.len()).then(|| FreeBlocks {
        node,
        zone,
        migrate_type,
        blocks,
        is_more,
        ..FreeBlocks::default()
    })
}

/// Reads `3*4kB (UM) 0*8kB ... = 12kB` behind the zone.
fn of_message(node: &str, zone: &str, words: &[&str]) -> Option<FreeBlocks> {
    let node = node.parse().ok()?;
    let end = words.iter().position(|word| *word == "=")?;
    let blocks = words[..end].iter().filter(|word| !word.starts_with('('));
    let block = |word: &&str| {
        let (count, size) = word.split_once('*')?;
        Some((count.parse::<u64>().ok()?, size.strip_suffix("kB")?.parse::<u64>().ok()?))
    };
    let blocks: Vec<(u64, u64)> = blocks.map(block).collect::<Option<_>>()?;
    let (_, page) = *blocks.first()?;
    let doubles = blocks.windows(2).all(|pair| pair[0].1.checked_mul(2) == Some(pair[1].1));
    let is_list = doubles && page > 0 && (ORDERS_MIN..=ORDERS_MAX).contains(&blocks.len());
    is_list.then(|| FreeBlocks {
        node,
        zone: zone.to_owned(),
        blocks: blocks.iter().map(|(count, _)| *count).collect(),
        page_bytes: page.checked_mul(1024),
        ..FreeBlocks::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Paste;

    fn lists(text: &str) -> Vec<FreeBlocks> {
        Paste::read(text.as_bytes()).unwrap().free
    }

    #[test]
    fn lists_are_read_in_whatever_stands_around_them() {
        let buddyinfo = "Node 0, zone   Normal    216     55    189    101     84     38     37     27      5      3    587";
        let expected = vec![216, 55, 189, 101, 84, 38, 37, 27, 5, 3, 587];
        for before in ["", "> ", "$ cat /proc/buddyinfo\n", "/proc/buddyinfo:", "    "] {
            let found = lists(&format!("{before}{buddyinfo}\n"));
            assert_eq!(found.len(), 1, "{before:?}");
            let list = &found[0];
            assert_eq!(
                (list.node, &*list.zone, &list.blocks),
                (0, "Normal", &expected),
                "{before}"
            );
            assert_eq!((list.page_bytes, list.lists, list.largest()), (None, 1, Some(10)));
        }
        let message = "[ 1234.5] Node 0 DMA32: 5*4kB (UM) 2*8kB (U) 0*16kB 1*32kB (E) 0*64kB 0*128kB 0*256kB 0*512kB \
            0*1024kB 0*2048kB 0*4096kB = 68kB\n";
        let list = &lists(message)[0];
        assert_eq!((list.page_bytes, list.pages(), list.largest()), (Some(4096), 17, Some(3)));
        assert_eq!(list.unusable(3), Some(1.0 - 8.0 / 17.0));
    }

    #[test]
    fn a_kernel_without_numa_names_no_node() {
        let of = |zone: &str| {
            format!(
                "[  99.1] {zone}: 144*4kB (UME) 72*8kB (ME) 0*16kB 1*32kB (M) 0*64kB 0*128kB 0*256kB 0*512kB 0*1024kB \
                 0*2048kB 0*4096kB = 1184kB\n"
            )
        };
        let found = lists(&format!("{}{}", of("Normal"), of("HighMem")));
        let zones: Vec<_> = found.iter().map(|list| (list.node, &*list.zone)).collect();
        assert_eq!(zones, [(0, "Normal"), (0, "HighMem")]);
        assert_eq!((found[0].pages(), found[0].page_bytes), (144 + 144 + 8, Some(4096)));
    }

    #[test]
    fn the_types_of_a_zone_are_lists_of_their_own_and_numbers_of_blocks_are_none() {
        let text = "Page block order: 9\nPages per block:  512\n\n\
            Free pages count per migrate type at order       0    1    2    3    4    5    6    7    8    9   10 \n\
            Node    0, zone   Normal, type    Unmovable    156  108   66   46   22   14    6    1    2    1    0 \n\
            Node    0, zone   Normal, type      Movable >100000    0    1    2    0    0    1    0    0    0    3 \n\
            \nNumber of blocks type     Unmovable      Movable  Reclaimable   HighAtomic      Isolate \n\
            Node 0, zone   Normal          201         3755          128            0            0 \n";
        let found = lists(text);
        let types: Vec<_> =
            found.iter().map(|it| (it.migrate_type.as_deref(), it.is_more)).collect();
        assert_eq!(types, [(Some("Unmovable"), false), (Some("Movable"), true)]);
        assert_eq!(found[1].blocks[0], 100_000);
    }

    #[test]
    fn the_last_list_of_a_zone_counts_and_lines_that_are_none_are_left() {
        let row = |n: u64| format!("Node 1, zone Normal {n} 0 0 0 0 0 0 0 0 0 0\n");
        let found = lists(&format!("{}{}", row(5), row(7)));
        assert_eq!((found.len(), found[0].pages(), found[0].lists), (1, 7, 2));
        for none in [
            "Node 0, zone   Normal\n",
            "Node 0, zone Normal 1 2 x 4 5 6 7 8 9 10 11\n",
            "Node 0 DMA: free:15896kB min:28kB low:32kB high:36kB\n",
            "Node 0 hugepages_total=0 hugepages_free=0 hugepages_surp=0 hugepages_size=2048kB\n",
            "Node 0 Normal: 5*4kB 2*9kB 0*16kB 0*32kB 0*64kB 0*128kB 0*256kB 0*512kB = 38kB\n",
        ] {
            assert_eq!(lists(none), [], "{none}");
        }
    }

    #[test]
    fn numbers_beyond_all_memory_are_no_panic() {
        let row =
            format!("Node 0, zone Normal {0} {0} {0} {0} {0} {0} {0} {0} {0} {0} {0}\n", u64::MAX);
        let list = &lists(&row)[0];
        assert_eq!((list.pages(), list.unusable(10)), (u64::MAX, Some(0.0)));
    }
}
