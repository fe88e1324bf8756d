//! All zones of a machine: which of them an allocation takes pages of, by its flags and by what stays free.
//!
//! # How it works
//! First the zones of the CPU's node are asked, from the highest on that the flags permit, then those of other nodes: each
//! gives pages while more than its low watermark stays free. Then they are asked again down to the minimum;
//! allocations that cannot wait may use a part of that too. At last every free page is given, as the recorded kernel gave one.

use slablab_linux::Gfp;

use super::cpu_pages::{CpuPages, has_list};
use super::lists::ORDERS;
use super::migrate::Migrate;
use super::zone::{Taken, Way, Zone};

/// Names of zones, lowest first (`enum zone_type`).
const NORMAL: &str = "Normal";
const DMA32: &str = "DMA32";

/// A zone's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) node: u16,
    pub(crate) name: String,
    /// Which of the node's zones it is
    pub(crate) index: u8,
}

/// Where a block was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) zone: u16,
    pub(crate) page: u32,
    pub(crate) is_movable: bool,
}

/// What an allocation asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask {
    pub(crate) cpu: u16,
    pub(crate) order: u8,
    pub(crate) migrate: Migrate,
    pub(crate) gfp: Gfp,
}

/// The zones of a machine, and what its CPUs keep of each.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) zones: Vec<(Place, Zone)>,
    /// By zone and CPU
    pub(crate) cpus: Vec<Vec<CpuPages>>,
    /// By node and [`Reach`]
    lists: Vec<[List; Reach::COUNT]>,
    cpu_nodes: Vec<u16>,
}

/// Which watermark counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Low,
    Min,
    None,
}

/// Up to which zone an allocation may use memory (`gfp_zone`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Dma = 0,
    Dma32 = 1,
    Normal = 2,
    All = 3,
}

/// `__GFP_HIGHMEM | __GFP_MOVABLE`
const GFP_MOVABLE: u32 = 1 << 1 | 1 << 3;

impl Reach {
    const COUNT: usize = 4;

    fn of(gfp: Gfp) -> Reach {
        match () {
            () if gfp.has(Gfp::DMA) => Reach::Dma,
            () if gfp.has(Gfp::DMA32) => Reach::Dma32,
            () if gfp.0 & GFP_MOVABLE == GFP_MOVABLE => Reach::All,
            () => Reach::Normal,
        }
    }

    /// Returns the index of the highest zone of each reach; a zone that the machine does not have leaves all to an allocation.
    fn highest(zones: &[(Place, Zone)]) -> [u8; Reach::COUNT] {
        let of_name = |name: &str| {
            zones.iter().find(|(place, _)| place.name == name).map(|(place, _)| place.index)
        };
        let below = |name: &str, index: Option<u8>| index.or(of_name(name).map(|below| below + 1));
        let dma32 = below("DMA", of_name(DMA32));
        let normal = below(DMA32, of_name(NORMAL)).or(dma32);
        let all = u8::MAX;
        [of_name("DMA").unwrap_or(all), dma32.unwrap_or(all), normal.unwrap_or(all), all]
    }
}

/// The zones that an allocation may use, in the order in which they are asked.
#[derive(Debug, Default)]
struct List {
    zones: Vec<usize>,
    /// The index of the highest zone
    highest: u8,
    /// Whether page blocks of other types are left alone at first
    is_tidy: bool,
}

impl Machine {
    /// Makes a machine of zones; `cpu_nodes` has the node of each CPU, 0 of those that it lacks.
    pub(crate) fn new(
        zones: Vec<(Place, Zone)>,
        cpus: Vec<Vec<CpuPages>>,
        cpu_nodes: Vec<u16>,
    ) -> Machine {
        let nodes = zones.iter().map(|(place, _)| place.node).max().unwrap_or(0) + 1;
        let highest = Reach::highest(&zones);
        let list = |node: u16, highest: u8| {
            let may_use = |at: &usize| zones[*at].0.index <= highest;
            let mut list: Vec<usize> = (0..zones.len()).filter(may_use).collect();
            list.sort_by_key(|at| {
                let Place { node: of_zone, index, .. } = zones[*at].0;
                let distance = (u32::from(of_zone) + u32::from(nodes - node)) % u32::from(nodes);
                (distance, std::cmp::Reverse(index))
            });
            let is_tidy = list.first().is_some_and(|first| is_tidy(&zones, *first, nodes));
            List { zones: list, highest, is_tidy }
        };
        let lists = (0..nodes).map(|node| highest.map(|highest| list(node, highest))).collect();
        Machine { zones, cpus, lists, cpu_nodes }
    }

    /// Gives a block; `None` where no zone has one.
    pub(crate) fn allocate(&mut self, ask: &Ask) -> Option<Given> {
        let node = self.cpu_nodes.get(usize::from(ask.cpu)).copied().unwrap_or(0);
        let node = usize::from(node).min(self.lists.len() - 1);
        let reach = Reach::of(ask.gfp) as usize;
        let is_tidy = self.lists[node][reach].is_tidy;
        if is_tidy {
            let given = self.try_zones(node, reach, ask, Mark::Low, Way { is_tidy });
            if given.is_some() {
                return given;
            }
        }
        for mark in [Mark::Low, Mark::Min, Mark::None] {
            if mark == Mark::None && ask.gfp.has(Gfp::DIRECT_RECLAIM) {
                self.unreserve(node, reach, ask.migrate);
            }
            let given = self.try_zones(node, reach, ask, mark, Way::default());
            if given.is_some() {
                return given;
            }
        }
        None
    }

    /// Gives a block where enough stays free without reclaim; `None` where a lower order is to be asked for.
    pub(crate) fn allocate_easily(&mut self, ask: &Ask) -> Option<Given> {
        let node = self.cpu_nodes.get(usize::from(ask.cpu)).copied().unwrap_or(0);
        let node = usize::from(node).min(self.lists.len() - 1);
        let reach = Reach::of(ask.gfp) as usize;
        let is_tidy = self.lists[node][reach].is_tidy;
        let tidy = if is_tidy {
            self.try_zones(node, reach, ask, Mark::Low, Way { is_tidy })
        } else {
            None
        };
        let marks = [Mark::Low, Mark::Min].into_iter();
        tidy.or_else(|| {
            marks
                .into_iter()
                .find_map(|mark| self.try_zones(node, reach, ask, mark, Way::default()))
        })
    }

    fn try_zones(
        &mut self,
        node: usize,
        reach: usize,
        ask: &Ask,
        mark: Mark,
        way: Way,
    ) -> Option<Given> {
        for place in 0..self.lists[node][reach].zones.len() {
            let List { zones, highest, .. } = &self.lists[node][reach];
            let (at, highest) = (zones[place], *highest);
            if let Some(page) = self.try_zone(at, ask, highest, mark, way) {
                let is_movable = ask.migrate == Migrate::Movable;
                if is_movable {
                    self.zones[at].1.note_movable(page, ask.order, true);
                }
                return Some(Given { zone: at as u16, page, is_movable });
            }
        }
        None
    }

    fn unreserve(&mut self, node: usize, reach: usize, migrate: Migrate) {
        for &at in &self.lists[node][reach].zones {
            if self.zones[at].1.unreserve(migrate) {
                break;
            }
        }
    }

    fn try_zone(&mut self, at: usize, ask: &Ask, highest: u8, mark: Mark, way: Way) -> Option<u32> {
        let zone = &mut self.zones[at].1;
        let is_atomic = ask.gfp.has(Gfp::HIGH) && !ask.gfp.has(Gfp::DIRECT_RECLAIM);
        let uses_reserve = is_atomic && ask.order > 0 && mark != Mark::Low;
        let pages = match mark {
            Mark::Low => zone.marks.low,
            Mark::Min if is_atomic => zone.marks.min / 2 - zone.marks.min / 8,
            Mark::Min if ask.gfp.has(Gfp::HIGH) => zone.marks.min / 2,
            Mark::Min => zone.marks.min,
            Mark::None => 0,
        };
        if mark != Mark::None && !zone.is_above(pages, ask.order, highest, uses_reserve) {
            return None;
        }
        let mut page = None;
        if uses_reserve {
            page = zone.take_smallest(ask.order, Migrate::HighAtomic);
        }
        if page.is_none() && has_list(ask.order, &zone.rules) {
            let cpu = self.cpus[at].get_mut(usize::from(ask.cpu));
            page = cpu.and_then(|cpu| cpu.take(zone, ask.order, ask.migrate, way));
        }
        let page = page.or_else(|| zone.take(ask.order, ask.migrate, way))?;
        if uses_reserve {
            zone.reserve(page, ask.order);
        }
        Some(page)
    }

    /// Frees a block, or a part of one.
    pub(crate) fn free(&mut self, cpu: u16, given: Given, order: u8) {
        let at = usize::from(given.zone);
        let zone = &mut self.zones[at].1;
        if given.is_movable {
            zone.note_movable(given.page, order, false);
        }
        match self.cpus[at].get_mut(usize::from(cpu)) {
            Some(pages) if has_list(order, &zone.rules) => pages.free(zone, given.page, order),
            _ => {
                let migrate = zone.block_type(given.page);
                zone.free(given.page, order, migrate);
            }
        }
    }

    /// What Linux does every second: limits of CPUs fall.
    pub(crate) fn tick(&mut self) {
        for ((_, zone), cpus) in self.zones.iter_mut().zip(&mut self.cpus) {
            cpus.iter_mut().for_each(|cpu| cpu.decay(zone));
        }
    }

    /// Returns free blocks by order, of all zones.
    pub(crate) fn free_blocks(&self) -> [u64; ORDERS] {
        let mut sum = [0; ORDERS];
        for (_, zone) in &self.zones {
            sum.iter_mut().zip(zone.free_blocks()).for_each(|(sum, blocks)| *sum += blocks);
        }
        sum
    }

    /// Returns the zones that an allocation of the kernel's own on the first node may use, with the index of the highest.
    pub(super) fn kernel_zones(&self) -> impl Iterator<Item = (&Zone, u8)> {
        let list = self.lists.first().map(|lists| &lists[Reach::Normal as usize]);
        let zones =
            list.into_iter().flat_map(|list| list.zones.iter().map(|at| (*at, list.highest)));
        zones.map(|(at, highest)| (&self.zones[at].1, highest))
    }

    /// Returns the pages that CPUs keep.
    pub(crate) fn cpu_pages(&self) -> u64 {
        self.cpus.iter().flatten().map(|cpu| cpu.count).sum()
    }

    /// Returns blocks of other migrate types that were taken since the last time.
    pub(crate) fn take_taken(&mut self) -> Vec<Taken> {
        self.zones.iter_mut().flat_map(|(_, zone)| std::mem::take(&mut zone.taken)).collect()
    }
}

/// Returns whether page blocks of other types are left alone at first: there is a lower zone for it (`ALLOC_NOFRAGMENT`).
fn is_tidy(zones: &[(Place, Zone)], first: usize, nodes: u16) -> bool {
    let Place { node, ref name, .. } = zones[first].0;
    let is_lower = |(place, _): &(Place, Zone)| place.node == node && place.name == DMA32;
    name == NORMAL && (nodes == 1 || zones.iter().any(is_lower))
}
