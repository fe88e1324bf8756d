//! The zones of a running kernel's page allocator: what they had free, what they kept back, and what CPUs kept, at a moment.
//!
//! # How it works
//! `/proc/zoneinfo` has sizes, watermarks and the lists of CPUs; `/proc/pagetypeinfo`, which only root may read, has free
//! blocks by migrate type and the types of page blocks; `/proc/kpageflags`, which also only root may read, says of each page
//! whether it is free; `/proc/buddyinfo` has free blocks by order and is read again and again. What a kernel does not say is
//! absent. Zones without memory are left out, but count in [`Zone::index`].
//!
//! Linux counterpart: `mm/vmstat.c` @ 6.1, 6.12 and 7.3.

use serde::{Deserialize, Serialize};

/// Names of migrate types in the order of their numbers in Linux 4.4 and later (`migratetype_names`).
pub const MIGRATE_TYPES: [&str; 6] =
    ["Unmovable", "Movable", "Reclaimable", "HighAtomic", "CMA", "Isolate"];

/// As many readings as a trace keeps; with more every second one is given up.
const READINGS_MAX: usize = 512;

/// No machine has more zones, and none has more orders.
const ZONES_MAX: usize = 4096;
const ORDERS_MAX: usize = 24;

/// What a recording read of the zones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordedZones {
    /// When its events began
    pub start: Zones,
    /// When they ended
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<Zones>,
    /// Free blocks meanwhile, in rising order of time
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<BuddyReading>,
}

/// The zones at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Zones {
    /// When they were read, by the trace's clock
    pub time_ns: u64,
    /// A page block has two to the power of this pages; `None` where it could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_order: Option<u8>,
    /// The zones that have memory, as the kernel lists them
    pub zones: Vec<Zone>,
}

/// A zone at one moment. Its numbers are pages where nothing else is said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Zone {
    /// Its NUMA node
    pub node: u16,
    /// Its name, as in `DMA32`
    pub name: String,
    /// Which of the node's zones it is
    pub index: u8,
    /// Number of its first page
    pub start: u64,
    /// From its first page to its last, holes among them
    pub spanned: u64,
    /// What the page allocator has
    pub managed: u64,
    /// Free ones, without those in the lists of CPUs
    pub free: u64,
    /// Its watermarks: below this one only those that cannot wait get pages,
    pub min: u64,
    /// below this one pages are reclaimed,
    pub low: u64,
    /// until there are as many as this.
    pub high: u64,
    /// What it keeps back from allocations that could come from a higher zone, by the index of that zone
    pub protection: Vec<u64>,
    /// What CPUs keep of it
    pub cpus: Vec<ZoneCpu>,
    /// Free blocks by migrate type (its number) and order; empty where they could not be read
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub free_blocks: Vec<Vec<u64>>,
    /// Page blocks by migrate type; empty where they could not be read
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<u64>,
    /// Lengths of runs of pages, from the first page on: in use, free, in use, and so on; without pages that CPUs keep, and
    /// empty where the flags of pages could not be read
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub free_runs: Vec<u64>,
    /// Of each page block the pages that can be moved, from the block of the first page on; empty as above
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub movable: Vec<u32>,
}

/// What a CPU keeps of a zone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ZoneCpu {
    /// Its number
    pub cpu: u16,
    /// Pages that it keeps
    pub count: u64,
    /// When it keeps as many, it gives some back.
    pub high: u64,
    /// How many it gets at once, at least
    pub batch: u64,
    /// Bounds of `high` where the kernel moves it, which it does from 6.7 on
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high_min: Option<u64>,
    /// See `high_min`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high_max: Option<u64>,
}

/// Free blocks at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BuddyReading {
    /// When they were read, by the trace's clock
    pub time_ns: u64,
    /// By zone, in the order of [`Zones::zones`], and order
    pub free_blocks: Vec<Vec<u64>>,
}

impl BuddyReading {
    /// Reads a text of `/proc/buddyinfo`.
    #[must_use]
    pub fn parse(time_ns: u64, text: &str) -> BuddyReading {
        let numbers = |line: &str| {
            let (_, rest) = zone_of(line)?;
            let words = rest.split_ascii_whitespace().take(ORDERS_MAX);
            words.map(|word| word.parse().ok()).collect::<Option<Vec<u64>>>()
        };
        let free_blocks = text.lines().filter_map(numbers).take(ZONES_MAX).collect();
        BuddyReading { time_ns, free_blocks }
    }

    /// Returns free blocks by order, of all zones.
    #[must_use]
    pub fn by_order(&self) -> Vec<u64> {
        let mut sum = Vec::new();
        for zone in &self.free_blocks {
            sum.resize(sum.len().max(zone.len()), 0u64);
            sum.iter_mut().zip(zone).for_each(|(sum, blocks)| *sum = sum.saturating_add(*blocks));
        }
        sum
    }
}

impl RecordedZones {
    /// Gives up readings until there are few enough. The last stays.
    pub(crate) fn thin(&mut self) {
        while self.readings.len() > READINGS_MAX {
            let last = self.readings.len() - 1;
            let mut place = 0;
            self.readings.retain(|_| {
                place += 1;
                (place - 1) % 2 == 0 || place - 1 == last
            });
        }
    }
}

impl Zones {
    /// Reads texts of `/proc/zoneinfo` and `/proc/pagetypeinfo`; "" of one that could not be read.
    #[must_use]
    pub fn parse(time_ns: u64, zoneinfo: &str, pagetypeinfo: &str) -> Zones {
        let mut zones = Zones { time_ns, ..Zones::default() };
        zones.read_zoneinfo(zoneinfo);
        zones.read_pagetypeinfo(pagetypeinfo);
        zones
    }

    fn read_zoneinfo(&mut self, text: &str) {
        let (mut node, mut index) = (None, 0u8);
        for line in text.lines() {
            if let Some(((of, name), _)) = zone_of(line) {
                index = if node == Some(of) { index.saturating_add(1) } else { 0 };
                node = Some(of);
                if self.zones.len() == ZONES_MAX {
                    break;
                }
                self.zones.push(Zone { node: of, name: name.to_owned(), index, ..Zone::default() });
            } else if let Some(zone) = self.zones.last_mut() {
                zone.read_line(line.trim());
            }
        }
        self.zones.retain(|zone| zone.managed > 0);
    }

    fn read_pagetypeinfo(&mut self, text: &str) {
        let mut types: Vec<Option<usize>> = Vec::new();
        for line in text.lines() {
            if let Some(order) = line.strip_prefix("Page block order:") {
                self.block_order = order.trim().parse().ok();
            } else if let Some(names) = line.strip_prefix("Number of blocks type") {
                types = names.split_ascii_whitespace().map(type_of).collect();
            } else if let Some(((node, name), rest)) = zone_of(line) {
                let is_it = |zone: &&mut Zone| zone.node == node && zone.name == name;
                let Some(zone) = self.zones.iter_mut().find(is_it) else { continue };
                match rest.trim_start().strip_prefix("type") {
                    Some(of_type) => zone.read_free(of_type),
                    None => zone.read_blocks(rest, &types),
                }
            }
        }
    }
}

impl Zone {
    /// Reads a line of zoneinfo between the zone's heading and the next.
    fn read_line(&mut self, line: &str) {
        if let Some(numbers) = line.strip_prefix("protection: (") {
            let numbers = numbers.trim_end_matches(')').split(',');
            self.protection = numbers.map(|number| number.trim().parse().unwrap_or(0)).collect();
            return;
        }
        let mut words = line.split_ascii_whitespace();
        let (Some(name), Some(number)) = (words.next(), words.next_back()) else { return };
        let Ok(number) = number.parse::<u64>() else { return };
        let cpu = self.cpus.last_mut();
        match (name, cpu) {
            ("pages", _) if line.starts_with("pages free") => self.free = number,
            ("min", None) => self.min = number,
            ("low", None) => self.low = number,
            ("high", None) => self.high = number,
            ("spanned", _) => self.spanned = number,
            ("managed", _) => self.managed = number,
            ("start_pfn:", _) => self.start = number,
            ("cpu:", _) => {
                self.cpus.push(ZoneCpu { cpu: number as u16, ..ZoneCpu::default() });
            }
            ("count:", Some(cpu)) => cpu.count = number,
            ("high:", Some(cpu)) => cpu.high = number,
            ("batch:", Some(cpu)) => cpu.batch = number,
            ("high_min:", Some(cpu)) => cpu.high_min = Some(number),
            ("high_max:", Some(cpu)) => cpu.high_max = Some(number),
            _ => {}
        }
    }

    /// Reads the free blocks of a type; beyond a limit the kernel says `>100000`.
    fn read_free(&mut self, of_type: &str) {
        let mut words = of_type.split_ascii_whitespace();
        let Some(place) = words.next().and_then(type_of) else { return };
        let blocks = words.take(ORDERS_MAX);
        let blocks = blocks.map(|word| word.trim_start_matches('>').parse().unwrap_or(0)).collect();
        self.free_blocks.resize(MIGRATE_TYPES.len(), Vec::new());
        self.free_blocks[place] = blocks;
    }

    fn read_blocks(&mut self, rest: &str, types: &[Option<usize>]) {
        self.blocks = vec![0; MIGRATE_TYPES.len()];
        for (place, word) in types.iter().zip(rest.split_ascii_whitespace()) {
            if let Some(place) = place {
                self.blocks[*place] = word.parse().unwrap_or(0);
            }
        }
    }
}

/// Returns the number of a migrate type.
fn type_of(name: &str) -> Option<usize> {
    MIGRATE_TYPES.iter().position(|known| *known == name)
}

/// Splits `Node 0, zone      DMA, ...` into the zone and what comes behind it.
fn zone_of(line: &str) -> Option<((u16, &str), &str)> {
    let (node, rest) = line.strip_prefix("Node")?.split_once(',')?;
    let rest = rest.trim_start().strip_prefix("zone")?.trim_start();
    let end = rest.find(|c: char| c == ',' || c.is_ascii_whitespace()).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    Some(((node.trim().parse().ok()?, name), rest.trim_start_matches(',')))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux 6.12 writes it, shortened.
    const ZONEINFO: &str = "Node 0, zone      DMA\n  per-node stats\n      nr_inactive_anon 7\n  pages free     3840\n\
        \x20       boost    0\n        min      126\n        low      157\n        high     188\n        promo    219\n\
        \x20       spanned  4095\n        present  3998\n        managed  3840\n        cma      0\n\
        \x20       protection: (0, 192, 192, 192, 192)\n      nr_free_pages 3840\n  pagesets\n    cpu: 0\n\
        \x20             count:    0\n              high:     13\n              batch:    1\n              high_min: 13\n\
        \x20             high_max: 288\n  vm stats threshold: 2\n  node_unreclaimable:  0\n  start_pfn:           1\n\
        Node 0, zone    DMA32\n  pages free     40000\n        min      1\n        spanned  61440\n        managed  50000\n\
        \x20       protection: (0, 0, 0)\n  pagesets\n    cpu: 0\n              count:    12\n              high:     40\n\
        \x20             batch:    12\n    cpu: 1\n              count:    5\n              high:     41\n\
        \x20             batch:    12\n  start_pfn:           4096\n\
        Node 0, zone   Normal\n  pages free     0\n        managed  0\n        protection: (0, 0, 0)\n";

    const PAGETYPEINFO: &str = "Page block order: 9\nPages per block:  512\n\n\
        Free pages count per migrate type at order       0      1      2 \n\
        Node    0, zone      DMA, type    Unmovable      0      1      0 \n\
        Node    0, zone      DMA, type      Movable      0      0      3 \n\
        Node    0, zone    DMA32, type      Movable >100000      2      7 \n\n\
        Number of blocks type     Unmovable      Movable  Reclaimable   HighAtomic      Isolate \n\
        Node 0, zone      DMA            3            5            0            0            0 \n\
        Node 0, zone    DMA32            9          100            2            1            0 \n";

    #[test]
    fn zones_are_read_with_their_watermarks_and_the_lists_of_cpus() {
        let zones = Zones::parse(7, ZONEINFO, PAGETYPEINFO);
        assert_eq!((zones.time_ns, zones.block_order, zones.zones.len()), (7, Some(9), 2));
        let [dma, dma32] = &zones.zones[..] else { panic!("{zones:?}") };
        assert_eq!((dma.name.as_str(), dma.index, dma.start, dma.spanned), ("DMA", 0, 1, 4095));
        assert_eq!(
            (dma.min, dma.low, dma.high, dma.free, dma.managed),
            (126, 157, 188, 3840, 3840)
        );
        assert_eq!(dma.protection, [0, 192, 192, 192, 192]);
        assert_eq!((dma.cpus[0].high, dma.cpus[0].high_max), (13, Some(288)));
        assert_eq!((dma32.index, dma32.cpus.len(), dma32.cpus[1].count), (1, 2, 5));
        assert_eq!((dma32.cpus[1].cpu, dma32.cpus[1].high_min), (1, None));
        assert_eq!(dma.free_blocks[1], [0, 0, 3]);
        assert_eq!(
            (&dma.free_blocks[2][..], &dma32.free_blocks[1][..]),
            (&[][..], &[100000, 2, 7][..])
        );
        assert_eq!((&dma.blocks[..], dma32.blocks[3]), (&[3, 5, 0, 0, 0, 0][..], 1));
    }

    #[test]
    fn what_the_kernel_does_not_say_is_absent() {
        let zones = Zones::parse(0, ZONEINFO, "");
        assert_eq!((zones.block_order, zones.zones.len()), (None, 2));
        assert!(zones.zones[0].free_blocks.is_empty() && zones.zones[0].blocks.is_empty());
        assert_eq!(Zones::parse(0, "Node x\nNode 0, zone\n  min\n", "Node"), Zones::default());
    }

    #[test]
    fn free_blocks_of_a_reading_are_added_by_order() {
        let text = "Node 0, zone      DMA      1      0      2 \nNode 0, zone    DMA32      5      7      0 \n";
        let reading = BuddyReading::parse(9, text);
        assert_eq!(reading.free_blocks, [[1, 0, 2], [5, 7, 0]]);
        assert_eq!((reading.time_ns, reading.by_order()), (9, vec![6, 7, 2]));
    }

    #[test]
    fn thinned_readings_keep_the_first_and_the_last() {
        let reading = |time_ns| BuddyReading { time_ns, ..BuddyReading::default() };
        let mut zones = RecordedZones {
            readings: (0..1500).map(reading).collect(),
            ..RecordedZones::default()
        };
        zones.thin();
        let times: Vec<u64> = zones.readings.iter().map(|reading| reading.time_ns).collect();
        assert!(times.len() <= READINGS_MAX && times.is_sorted(), "{}", times.len());
        assert_eq!((times.first(), times.last()), (Some(&0), Some(&1499)));
    }
}
